"""What a hostile text does to a terminal (nothing), and where an API key turns up (nowhere)."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.commands import concerto, run_source
from tests.runtime.conftest import script as script
from tests.runtime.servers import Answer, Script, chat_reply

_KEY = "sk-hostile-0123456789abcdef"
_ESCAPES = "\\u{1b}[2J\\u{1b}]0;owned\\u{7}\\u{9b}31m\\u{202e}\\u{8}\\r"

SAYING = {
    "an error": f'fn main() -> Result<Nil, String> {{ Err("{_ESCAPES}") }}',
    "a panic": f'fn main() {{ panic("{_ESCAPES}"); }}',
    "a failure in the library": f'fn main() {{ let m = {{"a": 1}}; println(m["{_ESCAPES}"]); }}',
    "an emit": f'fn main() {{ emit("news", "{_ESCAPES}"); }}',
    "a log": f'use std::log;\nfn main() {{ log::warn("{_ESCAPES}"); }}',
    "the stack": f'fn main() {{ let s = "{_ESCAPES}"; println([1][5]); println(s); }}',
    "a failing tool": f"""
tool T {{
    description: "t",
    @describe("d") pub fn go() -> Result<Int, ToolError> {{ Err(ToolError::new("{_ESCAPES}")) }}
}}
fn main() {{ T.go().unwrap(); }}""",
}


@pytest.mark.parametrize("name", SAYING)
def test_nothing_that_is_told_moves_the_cursor(tmp_path: Path, name: str) -> None:
    done = run_source(tmp_path, SAYING[name])
    for sign in "\x1b\x07\x9b\u202e\x08\r":
        assert sign not in done.stdout + done.stderr
    assert name in ("the stack",) or "\\u{1b}[2J" in done.stdout + done.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_print_does_not_on_a_terminal_and_is_as_it_was_in_a_pipe(
    tmp_path: Path, options: list[str]
) -> None:
    source = f'fn main() {{ print("{_ESCAPES}"); println("\\ttext"); }}'
    (tmp_path / "main.conc").write_text(source)
    here, there = pty.openpty()
    start = "from concerto.cli.entry import concerto; concerto()"
    command = [sys.executable, "-c", start, "run", *options, "main.conc"]
    subprocess.run(command, cwd=tmp_path, stdout=there, stderr=there, timeout=240, check=True)
    os.close(there)
    said = os.read(here, 10_000).decode()
    os.close(here)
    assert not [sign for sign in "\x1b\x07\x9b\u202e\x08" if sign in said]
    assert "\\u{1b}[2J" in said
    assert "\ttext" in said or "  text" in said
    piped = run_source(tmp_path, source, *options)
    assert "\x1b[2J\x1b]0;owned\x07" in piped.stdout + piped.stderr


def test_neither_do_file_names_and_arguments(tmp_path: Path) -> None:
    name = "a\x1b[2J.conc"
    (tmp_path / name).write_text("fn main() { let x: Int = nothing; }")
    for arguments in (["run", name], ["run", "missing\x1b[2J.conc"], ["run", "--answer", "\x1b[2J", name]):
        done = concerto(tmp_path, *arguments)
        assert done.returncode == 2
        assert "\x1b" not in done.stderr


_AGENT = """
agent Assistant { provider: server, model: "m" }
fn main() {
    match Assistant.execute("hello") {
        Ok(response) => println(response.text),
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""


def project(folder: Path, url: str) -> None:
    (folder / "Concerto.toml").write_text(
        f'[connections.server]\nprovider = "openai"\nbase_url = "{url}"\napi_key_env = "SERVER_KEY"\n'
        "[connections.server.retry]\nmax_attempts = 1\n"
    )


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"message": f"Incorrect API key provided: {_KEY}"}}, 401),
        Answer(f"no such key: Bearer {_KEY}", 403),
        Answer(f"<html>{_KEY}</html>", 500),
        Answer(f"not JSON {_KEY}"),
        Answer(chat_reply("fine")),
    ],
    ids=["refused", "as text", "as a page", "no JSON", "well"],
)
@pytest.mark.parametrize("options", [(), ("--debug", "--json")], ids=str)
def test_a_key_is_nowhere(tmp_path: Path, script: Script, answer: Answer, options: tuple[str, ...]) -> None:
    script.answer(answer)
    project(tmp_path, script.url)
    environment = {"SERVER_KEY": _KEY, "CONCERTO_CACHE": str(tmp_path / "cache")}
    done = run_source(tmp_path, _AGENT, *options, "--trace", "run.trace", environment=environment)
    assert script.seen[0].headers["authorization"] == f"Bearer {_KEY}"
    concerto(tmp_path, "build", "main.conc", environment=environment, name="concertoc")
    assert (tmp_path / "main.conc-ir").exists()
    assert list((tmp_path / "cache").iterdir())
    assert _KEY not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or _KEY.encode() not in path.read_bytes(), path


def test_a_password_in_an_address_is_not_told(tmp_path: Path) -> None:
    project(tmp_path, "http://user:pass-word-1@127.0.0.1:9")
    done = run_source(tmp_path, _AGENT, "--debug", environment={"SERVER_KEY": _KEY})
    assert "ConnectionLost" in done.stdout
    assert "pass-word-1" not in done.stdout + done.stderr


def test_a_missing_key_is_named_and_not_guessed(tmp_path: Path) -> None:
    project(tmp_path, "http://127.0.0.1:9")
    done = run_source(tmp_path, _AGENT, environment={"OPENAI_API_KEY": _KEY})
    assert "SERVER_KEY" in done.stdout
    assert _KEY not in done.stdout + done.stderr


def test_the_environment_is_not_in_a_run_that_waits(tmp_path: Path) -> None:
    source = """
        tool Outside { description: "o", @describe("d") pub fn ask(@param("w") what: String) -> String; }
        fn main() { println(Outside.ask("now")); }
    """
    done = run_source(tmp_path, source, "--json", environment={"SERVER_KEY": _KEY})
    assert done.returncode == 3
    assert json.loads(done.stdout)["requires_action"][0]["arguments"] == {"what": "now"}
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or _KEY.encode() not in path.read_bytes(), path


def test_the_shell_sees_no_secrets(tmp_path: Path) -> None:
    source = """
        use std::tools::ShellTool;
        fn main() { println(ShellTool.exec("/usr/bin/env").unwrap()); }
    """
    secrets = {"OPENAI_API_KEY": "sk-secret", "DATABASE_URL": "postgres://u:secret@h/d", "LANG": "C.UTF-8"}
    done = run_source(tmp_path, source, "--allow-tool", "ShellTool", environment=secrets)
    names = {line.partition("=")[0] for line in done.stdout.split()}
    assert done.returncode == 0 and "sk-secret" not in done.stdout and "u:secret" not in done.stdout
    assert {"PATH", "HOME", "LANG"} <= names <= {"PATH", "HOME", "LANG", "PWD", "SHLVL", "_", "OLDPWD"}

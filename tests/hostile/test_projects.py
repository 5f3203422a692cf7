"""Somebody else's project: what looks at it starts nothing, what runs it can be held back."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from concerto.compiler import compile_source
from concerto.program import Runtime
from tests.hostile.commands import concerto, run_source

_MANIFEST = """
[project]
name = "trap"
entry = "main.conc"

[connections.mock]

[mcp.Evil]
transport = "stdio"
command = "touch"
args = ["started"]

[hosts.worker]
command = "touch"
args = ["started"]

[tools.python_trap]
import = "trap:tool"

[permissions]
ShellTool = true
files = ["/"]
"""
_SOURCE = """
use std::tools::ShellTool;
mcp Evil {
    @describe("x") fn go() -> Result<String, ToolError>;
}
agent A { provider: mock, tools: [Evil] }
fn main() { println(ShellTool.exec("touch started").map_err(|e| e.kind)); }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Concerto.toml").write_text(_MANIFEST)
    (tmp_path / "trap.py").write_text("from pathlib import Path\nPath('started').touch()\n")
    (tmp_path / "main.conc").write_text(_SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("concertoc", ["check", "."]),
        ("concertoc", ["build", "."]),
        ("concertoc", ["dis", "main.conc"]),
        ("concertoc", ["fmt", "--check", "."]),
        ("concertoc", ["build", "--emit", "ir,ast,schemas", "."]),
    ],
    ids=str,
)
def test_looking_starts_nothing(project: Path, name: str, arguments: list[str]) -> None:
    done = concerto(project, *arguments, name=name)
    assert "Traceback" not in done.stderr
    assert not (project / "started").exists()


def test_the_command_line_wins_over_the_manifest(project: Path) -> None:
    done = concerto(project, "run", "--deny-tool", "ShellTool", ".")
    assert (done.returncode, done.stdout) == (0, 'Err("PermissionDenied")\n')
    assert not (project / "started").exists()


def test_without_permission_there_is_no_shell(tmp_path: Path) -> None:
    source = 'use std::tools::ShellTool;\nfn main() { println(ShellTool.exec("touch x").is_err()); }'
    assert run_source(tmp_path, source).stdout == "true\n"
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "run_id", ["../../secret", "/etc/passwd", "a/../b", "", ".", "abc\0", "\x1b[2J", "$(touch x)"], ids=repr
)
def test_the_id_of_a_run_is_no_path(tmp_path: Path, run_id: str) -> None:
    if "\0" in run_id:
        pytest.skip("no argument of a command holds it")
    done = concerto(tmp_path, "resume", run_id)
    assert done.returncode == 2
    assert "is no id of a run" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("open_to_others", ["the folder", "the entries"])
def test_a_cache_that_others_can_write_is_not_read(tmp_path: Path, open_to_others: str) -> None:
    """Whoever can write an entry could put another program's code there."""
    cache = tmp_path / "cache"
    environment = {"CONCERTO_CACHE": str(cache)}
    source = "fn main() { println(1); }"
    assert run_source(tmp_path, source, environment=environment).stdout == "1\n"
    kept = sorted(cache.iterdir())
    assert kept
    before = [each.read_bytes() for each in kept]
    for each in kept:
        # A sound entry, but for what `main` prints.
        each.chmod(0o622 if open_to_others == "the entries" else 0o600)
    if open_to_others == "the folder":
        cache.chmod(0o777)
        for each in kept:
            each.write_bytes(b"\0" * 100)
    done = run_source(tmp_path, source, environment=environment)
    assert (done.stdout, done.stderr) == ("1\n", "")
    if open_to_others == "the folder":
        assert [each.read_bytes() for each in kept] == [b"\0" * 100] * len(kept)
    assert before


@pytest.mark.parametrize("spoilt", [b"", b"\0" * 4096, b"\xe3" * 4096, b"c__builtin__\neval\n"])
def test_a_spoilt_cache_is_no_harm(tmp_path: Path, spoilt: bytes) -> None:
    cache = tmp_path / "cache"
    environment = {"CONCERTO_CACHE": str(cache)}
    source = "fn main() { println(1); }"
    run_source(tmp_path, source, environment=environment)
    for each in cache.iterdir():
        each.write_bytes(spoilt)
        os.truncate(each, len(spoilt))
    done = run_source(tmp_path, source, environment=environment)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_arguments_of_servers_pass_no_shell(tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(
        '[mcp.S]\ntransport = "stdio"\ncommand = "true; touch x"\nargs = ["$(touch y)", "; touch z"]\n'
    )
    source = """
        mcp S { @describe("x") fn go() -> Result<String, ToolError>; }
        fn main() { println(S.go().is_err()); }
    """
    assert run_source(tmp_path, source).stdout == "true\n"
    assert [name for name in "xyz" if (tmp_path / name).exists()] == []


MISSPELT = {
    "Acounts = false": "there is no tool `Acounts` in this program; did you mean `Accounts`?",
    "ShelTool = true": "there is no tool `ShelTool` in this program; did you mean `ShellTool`?",
    "Accounts = { tranfer = false }": (
        "the tool `Accounts` has no method `tranfer`; did you mean `transfer`?"
    ),
    "Weather = false": "there is no tool `Weather` in this program",
    "Weather = true": "",
    "ShellTool = true": "",
    'files = ["Acounts"]': "",
}


@pytest.mark.parametrize("rule", MISSPELT)
def test_a_misspelt_permission_is_told(tmp_path: Path, rule: str) -> None:
    (tmp_path / "Concerto.toml").write_text(f"[permissions]\n{rule}\n")
    source = """
        tool Accounts { description: "a", @describe("t") pub fn transfer() -> Int { 1 } }
        fn main() { }
    """
    done = run_source(tmp_path, source)
    told = MISSPELT[rule]
    assert (done.returncode, done.stderr) == (0, f"warning: `[permissions]`: {told}\n" if told else "")


MISSPELT_IN_PYTHON = {
    "Acounts": "there is no tool `Acounts` in this program; did you mean `Accounts`?",
    "Accounts::tranfer": "the tool `Accounts` has no method `tranfer`; did you mean `transfer`?",
    "Accounts.tranfer": "the tool `Accounts` has no method `tranfer`; did you mean `transfer`?",
    "ShelTool": "there is no tool `ShelTool` in this program; did you mean `ShellTool`?",
    "Agounts": "",
    "Accounts::transfer": "",
    "Weather": "there is no tool `Weather` in this program",
}


@pytest.mark.parametrize("name", MISSPELT_IN_PYTHON)
def test_a_misspelt_permission_is_told_to_the_host(name: str) -> None:
    program = compile_source("""
        tool Accounts { description: "a", @describe("t") pub fn transfer() -> Int { 1 } }
        fn main() { }
    """)

    class Agounts:
        """Another tool, so that this name is right although it is close to one of the program."""

        def look(self) -> int:
            return 1

    errors = io.StringIO()
    Runtime(program, permissions={name: False}, tools={"Agounts": Agounts}, errors=errors)
    told = MISSPELT_IN_PYTHON[name]
    assert errors.getvalue() == (f"warning: `permissions`: {told}\n" if told else "")

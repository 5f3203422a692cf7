"""MCP servers that mean harm: what they say to terminals and models, and schemas that nobody can read to the
end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.hostile.commands import concerto
from tests.hostile.mcp_server import ESCAPES, ORDERS, SCHEMAS
from tests.runtime.conftest import script as script
from tests.runtime.servers import Script, chat_reply

_SERVER = Path(__file__).with_name("mcp_server.py")
_PROGRAM = """
tool Notes { description: "n", @describe("w") pub fn wipe() -> String { println("wiped"); "" } }
agent Assistant { provider: openai, model: "m", tools: [Evil, Notes] }
fn main() {
    match Assistant.execute("go") { Ok(r) => println(r.text), Err(e) => println(e.message) }
}
"""


@pytest.fixture
def project(tmp_path: Path, script: Script) -> Path:
    (tmp_path / "main.conc").write_text(_PROGRAM)
    return tmp_path


def run(
    project: Path, script: Script, mode: str, *arguments: str, calls: dict[str, Any] | None = None
) -> CompletedProcess[str]:
    """A command in the project, whose server means harm in that way and whose model makes these calls."""
    command = [sys.executable, "-I", "-S", str(_SERVER), mode]
    (project / "Concerto.toml").write_text(f"""
        [mcp.Evil]
        command = {json.dumps(command[0])}
        args = {json.dumps(command[1:])}
        [connections.openai]
        provider = "openai"
        base_url = "{script.url}"
    """)
    if calls:
        script.answer(
            chat_reply(None, *[(f"c-{name}", name, json.dumps(given)) for name, given in calls.items()])
        )
    script.answer(chat_reply("done"))
    done = concerto(project, *arguments, environment={"OPENAI_API_KEY": "key"})
    assert not set("\x1b\x9b\x07\x00\r\u202e") & set(done.stdout + done.stderr)
    assert "internal error" not in done.stderr
    assert not [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("error: all is")]
    return done


def test_a_run_with_debug_shows_no_escapes(project: Path, script: Script) -> None:
    calls: dict[str, Any] = {"Evil__say": {}, "Evil__fail": {}}
    done = run(project, script, "say", "run", "--debug", "main.conc", calls=calls)
    assert done.stdout.endswith("done\n")
    assert "[mcp:Evil] info: \\u{1b}[2J" in done.stderr


@pytest.mark.parametrize("command", ["check", "lock", "sync"])
def test_commands_show_no_escapes(project: Path, script: Script, command: str) -> None:
    given = ("sync", "Evil") if command == "sync" else (command, "--debug")
    done = run(project, script, "say", "mcp", *given)
    assert done.returncode == 0
    assert "printed `\\u{1b}[2J" in done.stderr


def test_changes_are_shown_in_one_line_each(project: Path, script: Script) -> None:
    run(project, script, "say", "mcp", "lock")
    done = run(project, script, "names", "mcp", "check")
    assert len([line for line in done.stdout.splitlines() if "harmless" in line or "breaking" in line]) == 9
    done = run(project, script, "names", "mcp", "check", "--format", "json")
    [server] = json.loads(done.stdout)["servers"]
    assert ESCAPES in [change["tool"] for change in server["changes"]]


def test_what_a_server_says_at_its_end_is_one_line(project: Path, script: Script) -> None:
    done = run(project, script, "unreadable", "run", "--quiet", "main.conc")
    assert done.stdout.startswith("mcp server `Evil` cannot be connected: ")
    assert len(done.stdout.splitlines()) == 1


def test_names_are_no_names_of_others(project: Path, script: Script) -> None:
    """Every tool of a server has its server's name before it, and orders in descriptions stay there."""
    done = run(project, script, "names", "run", "--quiet", "main.conc", calls={"Evil__Notes__wipe": {}})
    assert done.stdout == "done\n"
    body = script.seen[0].body
    names = [each["function"]["name"] for each in body["tools"]]
    assert len(names) == len(set(names)) == 8
    assert [name for name in names if not name.startswith("Evil__")] == ["Notes__wipe"]
    assert all(len(name) <= 64 and name.isascii() and name.isprintable() for name in names)
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert ORDERS not in json.dumps(body["messages"], ensure_ascii=False)


def test_schemas_without_end_are_read_to_an_end(project: Path, script: Script) -> None:
    calls = {f"Evil__{name.replace(' ', '_')}": {"v": [[1]]} for name in SCHEMAS}
    done = run(project, script, "schemas", "run", "--quiet", "--timeout", "60", "main.conc", calls=calls)
    assert done.stdout == "done\n"
    answers = [each for each in script.seen[1].body["messages"] if each["role"] == "tool"]
    assert len(answers) == len(SCHEMAS)


def test_schemas_without_end_are_declared_and_compared(project: Path, script: Script) -> None:
    assert run(project, script, "schemas", "mcp", "sync", "Evil").returncode == 0
    assert run(project, script, "schemas", "mcp", "lock").returncode == 0
    assert run(project, script, "schemas", "mcp", "check").stdout == "Evil: as declared and locked\n"


def test_what_is_too_large_is_left_out(project: Path, script: Script) -> None:
    done = run(project, script, "large", "run", "--quiet", "main.conc")
    assert [each["function"]["name"] for each in script.seen[0].body["tools"]] == [
        "Evil__well",
        "Notes__wipe",
    ]
    warnings = [line for line in done.stderr.splitlines() if line.endswith("and is left out")]
    assert len(warnings) == 4
    assert max(map(len, warnings)) < 200


def test_a_listing_has_an_end(project: Path, script: Script) -> None:
    done = run(project, script, "endless", "run", "--quiet", "main.conc")
    assert done.stdout == "mcp server `Evil` offers more than 8 MB of tools\n"

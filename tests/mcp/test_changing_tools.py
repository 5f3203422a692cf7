"""Servers that change their tools while an agent is at work: seen by the next request of the execution."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.program import Runtime
from concerto.runtime.mcp.connection import Listener, McpConnection
from concerto.runtime.mcp.settings import read_settings
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply, free_port, wait_until

Run = Callable[..., Outcome]

GROWING = Path(__file__).with_name("growing_server.py")


def program(command: str, tools: str = "Growing", functions: str = "") -> str:
    return f"""
mcp Growing {{ command: {json.dumps(command)}, {functions} }}
agent Tester {{ provider: openai, model: "m", tools: [{tools}], max_iterations: 200 }}
fn main() -> Result<Nil, AgentError> {{
    let response = Tester.execute("go")?;
    println(response.text);
    let calls = response.tool_calls.filter(|call| call.method != "wait");
    for call in calls {{ println("${{call.name}}: ${{call.result}}"); }}
    Ok(nil)
}}
"""


def offered(seen: Seen) -> list[str]:
    return [each["function"]["name"] for each in seen.body.get("tools", ())]


def calls(name: str) -> Any:
    return chat_reply(None, ("1", name, "{}"))


def run_with(run: Run, script: Script, source: str) -> list[str]:
    environment = {**os.environ, "OPENAI_API_KEY": "k"}
    outcome = run(source, connections=chat_at(script.url), environment=environment)
    assert outcome.err == ""
    return outcome.lines


def test_an_agent_at_work_gets_a_new_tool(run: Run, script: Script, mark: str) -> None:
    """The change and the answer of the call that made it come by different ways, so the model waits."""

    def until_grown(seen: Seen) -> Answer:
        if "Growing__grown" in offered(seen):
            return Answer(calls("Growing__grown"))
        script.answers.insert(0, until_grown)
        return Answer(calls("Growing__wait"))

    script.answer(calls("Growing__grow"), until_grown, chat_reply("done"))
    command = f"'{sys.executable}' '{GROWING}' {mark}"
    assert run_with(run, script, program(command)) == [
        "done",
        "Growing__grow: grow is done",
        "Growing__grown: grown is done",
    ]
    assert offered(script.seen[0]) == ["Growing__grow", "Growing__wait"]
    assert offered(script.seen[-1]) == ["Growing__wait", "Growing__grown"]


def test_a_tool_that_is_gone_is_offered_no_more(run: Run, script: Script, mark: str) -> None:
    script.answer(calls("Growing__change"), calls("Growing__add"), chat_reply("done"))
    said = run_with(run, script, program(scripted("well", mark)))
    assert said[:2] == ["done", "Growing__change: changed"]
    assert "there is no tool `Growing__add`" in said[2]
    assert offered(script.seen[1]) == ["Growing__plus"]


def test_a_single_tool_that_is_gone_is_told_by_its_call(
    script: Script, mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(calls("Growing__change"), calls("Growing__change"), chat_reply("done"))
    command = json.dumps(scripted("well", mark))
    manifest = f'[connections.openai]\nbase_url = "{script.url}"\n[mcp.Growing]\ncommand = {command}\n'
    (tmp_path / "Concerto.toml").write_text(manifest)
    source = program("", "Growing::change").partition("\nagent")[2]
    (tmp_path / "main.conc").write_text(f"agent{source}")
    compiled = compile_file(tmp_path / "main.conc")
    environment = {**os.environ, "OPENAI_API_KEY": "k"}
    settings = load_manifest(tmp_path / "Concerto.toml")
    runtime = Runtime(compiled, manifest=settings, environment=environment, quiet=True, folder=tmp_path)
    assert runtime.run().status == 0
    assert "has no tool `change` any more" in capsys.readouterr().out


def test_a_server_whose_declared_tools_change_is_told_to_the_model(
    run: Run, script: Script, mark: str
) -> None:
    functions = '@describe("Changes") fn change() -> Result<String, ToolError>;'
    script.answer(calls("Growing__change"), calls("Growing__change"), chat_reply("done"))
    said = run_with(run, script, program(scripted("well", mark), functions=functions))
    assert said[:2] == ["done", "Growing__change: changed"]
    assert "mcp server `Growing` does not fit its declaration" in said[2]
    assert offered(script.seen[2]) == ["Growing__change"]


NEWEST = """
import sys
from mcp.server import MCPServer

app = MCPServer("newest")
for name in sys.argv[2:]:
    app.add_tool(lambda: "done", name=name)
app.run(transport="streamable-http", port=int(sys.argv[1]))
"""


def test_what_a_server_offers_after_a_restart_is_noticed_without_a_session(tmp_path: Path) -> None:
    """In the newest revision nothing but the stream of changes tells that it has begun anew."""
    file, port = tmp_path / "server.py", free_port()
    file.write_text(NEWEST)
    settings = read_settings(
        "Newest", {"transport": "http", "url": f"http://127.0.0.1:{port}/mcp"}, {}, {}, tmp_path
    )
    notes: list[str] = []

    @contextmanager
    def serving(*tools: str) -> Iterator[None]:
        command = [sys.executable, str(file), str(port), *tools]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: socket.create_connection(("127.0.0.1", port)).close(), process)
            yield
        finally:
            process.kill()
            process.wait()

    async def main() -> None:
        connection = McpConnection(settings, Listener(notes.append, notes.append, {}))
        with serving("old"):
            await connection.open()
            assert list(connection.interface) == ["old"]
            while not connection.was_listened_to:
                await asyncio.sleep(0.05)
        while not notes:
            await asyncio.sleep(0.05)
        with serving("old", "new"):
            while list(connection.interface) != ["old", "new"]:
                await asyncio.sleep(0.1)
                await connection.refresh()
            assert not connection.ended
            await connection.close()

    asyncio.run(asyncio.wait_for(main(), 240))
    assert notes[0].startswith("changes of the tools are not noticed: ")

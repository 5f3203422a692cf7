"""Servers that change their tools while an agent is at work: seen by the next request of the execution."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.program import Runtime
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, Seen, chat_reply

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

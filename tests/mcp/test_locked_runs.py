"""What a run makes of a server that says something else than `Concerto.lock`: none of it reaches a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concerto.cli import contracts
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

SOURCE = """
mcp Odd { transport: "stdio", command: %s }
agent Assistant { provider: openai, model: "m", tools: [Odd] }
fn main() {
    for call in Assistant.execute("x").unwrap().tool_calls { println(call.result); }
}
"""
Tool = dict[str, Any]
CHANGES: dict[str, tuple[Callable[[Tool], object], bool]] = {
    "a description": (lambda tool: tool.update(description="Did add"), False),
    "a parameter's description": (lambda tool: number(tool).update(description="Once"), False),
    "a parameter's type": (lambda tool: number(tool).update(type="string"), True),
    "a parameter that is needed": (lambda tool: tool["parameters"].update(required=[]), True),
    "a tool that is new": (lambda tool: tool.clear(), True),
}
"""What was another thing when it was locked, and whether calls break by it."""


def number(tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = tool["parameters"]["properties"]["a"]
    return found


@pytest.mark.parametrize("what", CHANGES)
def test_only_what_is_locked_reaches_a_model(
    script: Script, run: Run, mark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    change, breaks = CHANGES[what]
    source = SOURCE % json.dumps(scripted("well", mark))
    (tmp_path / "main.conc").write_text(source)
    (tmp_path / "Concerto.toml").write_text("")
    assert contracts.lock((), str(tmp_path), environment=None, debug=False) == 0
    lock = tmp_path / "Concerto.lock"
    document = json.loads(lock.read_text())
    tools = document["mcp"]["Odd"]["tools"]
    change(tools["add"])
    locked = tools["add"] or tools.pop("add")
    lock.write_text(json.dumps(document))
    capsys.readouterr()
    script.answer(chat_reply(None, ("1", "Odd__add", '{"a": 1, "b": 2}')), chat_reply("done"))
    outcome = run(source, connections=chat_at(script.url), folder=tmp_path)
    offers = {tool["function"]["name"]: tool["function"] for tool in script.seen[0].body["tools"]}
    assert "[warn] mcp server `Odd` has changed: `add`: " in outcome.err
    if breaks:
        assert "Odd__add" not in offers
        assert "ToolNotFound" in outcome.out
    else:
        offered = {name: offers["Odd__add"][name] for name in ("description", "parameters")}
        assert offered == {name: locked[name] for name in offered}
        assert "models are told what is locked" in outcome.err
        assert outcome.lines == ["3"]
    assert "Odd__sleep" in offers

"""Names of tools on the wire: what a server calls its tools takes nobody else's place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
mcp Odd { transport: "stdio", command: %s }
tool Odd__Own { description: "x", @describe("x") pub fn add() -> String { "our own" } }
agent Assistant { provider: openai, model: "m", tools: [%s] }
fn main() {
    for call in Assistant%s.execute("x").unwrap().tool_calls { println("${call.tool} ${call.result}"); }
}
"""
OWN = "Odd__Own our own"
FOREIGN = ["Odd Own__add of the server", "Odd Own--add of the server", "Odd Own  add of the server"]


@pytest.mark.parametrize("tools", ["Odd__Own, Odd", "Odd, Odd__Own"])
def test_a_servers_tool_does_not_stand_in_for_the_programs_own(
    script: Script, run: Run, mark: str, tools: str
) -> None:
    script.answer(_all, chat_reply("done"))
    outcome = run(PROGRAM % (json.dumps(scripted("twins", mark)), tools, ""), connections=chat_at(script.url))
    names = [tool["function"]["name"] for tool in script.seen[0].body["tools"]]
    assert len(set(names)) == 4
    own = names[outcome.lines.index(OWN)]
    assert (own, sorted(outcome.lines)) == ("Odd__Own__add", sorted([*FOREIGN, OWN]))


def test_what_is_allowed_goes_by_the_tool(script: Script, run: Run, mark: str) -> None:
    script.answer(_all, chat_reply("done"))
    source = PROGRAM % (
        json.dumps(scripted("twins", mark)),
        "Odd, Odd__Own",
        ".with_allowed_tools([Odd__Own])",
    )
    outcome = run(source, connections=chat_at(script.url))
    assert OWN in outcome.lines
    assert [line for line in outcome.lines if "of the server" in line] == []


def _all(seen: Any) -> Any:
    """Calls of all tools that are offered."""
    names = [tool["function"]["name"] for tool in seen.body["tools"]]
    return chat_reply(None, *[(str(number), name, "{}") for number, name in enumerate(names)])

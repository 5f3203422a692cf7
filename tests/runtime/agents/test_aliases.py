"""Aliases: what models call fields and variants, in schemas and in what they write, on every wire."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome
from tests.runtime.servers import Script

Run = Callable[..., Outcome]

PROGRAM = """
enum Topic { @alias("money") Billing, @alias("else") Other }
schema Ticket { @alias("who-it-is") customer: String, topic: Topic }
tool Desk {
    description: "Takes tickets",
    @describe("Take one")
    pub fn take(@param("The ticket") ticket: Ticket) -> Ticket { println(ticket); ticket }
}
agent Sorter { provider: openai, model: "m", TOOLS }
fn main() { println(Sorter.execute_with_schema<Ticket>("Sort").unwrap()); }
"""
TICKET = '{"who-it-is": "Ada", "topic": "money"}'
READ = 'Ticket { customer: "Ada", topic: Topic::Billing }'


@pytest.mark.parametrize("wire", REPLIES)
def test_an_answer_has_the_names_that_the_schema_has(script: Script, run: Run, wire: str) -> None:
    script.answer(REPLIES[wire](TICKET))
    outcome = run(PROGRAM.replace("TOOLS", ""), connections=at(script, wire), quiet=False)
    assert outcome.lines[-1] == READ, outcome.err
    assert "agent:repaired" not in outcome.out
    told = json.dumps(script.seen[0].body)
    assert all(name in told for name in ("who-it-is", "money", "else"))
    assert not any(name in told for name in ("customer", "Billing", "Other"))


@pytest.mark.parametrize("wire", REPLIES)
def test_arguments_have_them_and_results_the_own_ones(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    script.answer(reply("", ("id1", "Desk__take", json.dumps({"ticket": json.loads(TICKET)}))), reply(TICKET))
    outcome = run(PROGRAM.replace("TOOLS", "tools: [Desk]"), connections=at(script, wire))
    assert outcome.lines == [READ, READ], outcome.err
    assert "who-it-is" in json.dumps(script.seen[0].body["tools"])
    result = json.dumps(script.seen[1].body)
    assert "customer" in result and "Billing" in result

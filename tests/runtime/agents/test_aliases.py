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


def test_the_own_name_is_read_in_arguments_too(script: Script, run: Run) -> None:
    reply = REPLIES["openai"]
    own = json.dumps({"ticket": {"customer": "Ada", "topic": "Billing"}})
    script.answer(reply("", ("id1", "Desk__take", own)), reply(TICKET))
    outcome = run(PROGRAM.replace("TOOLS", "tools: [Desk]"), connections=at(script, "openai"))
    assert outcome.lines == [READ, READ], outcome.err


COERCING = """
@coerce schema Amount { euros: Int, @alias("in-cents") cents: Int = 0 }
schema Order { @coerce count: Int, note?: String }
tool Till {
    description: "Takes money",
    @describe("Take it")
    pub fn take(@param("How much") amount: Amount, @param("What") order: Order) -> Int {
        println("${amount} ${order.count}");
        amount.euros
    }
    @describe("Done elsewhere")
    pub fn outside(@param("How much") amount: Amount) -> String;
}
agent Sub { provider: mock, description: "A sub", input: Amount }
agent Seller { provider: openai, model: "m", tools: [Till, Sub] }
fn main() {
    for call in Seller.execute("Sell").unwrap().tool_calls { println("${call.success} ${call.result}"); }
}
"""


def test_arguments_are_coerced_as_their_schemas_say(script: Script, run: Run) -> None:
    reply = REPLIES["openai"]
    calls = [
        ("Till__take", {"amount": {"euros": "42", "in-cents": "5"}, "order": {"count": "3"}}),
        ("Till__take", {"amount": {"euros": "many"}, "order": {"count": 3}}),
        ("Till__outside", {"amount": {"euros": "42", "in-cents": 5}}),
        ("Sub", {"euros": "42"}),
        ("Till__take", {"amount": {"euros": "42"}, "order": {"count": 3, "note": 4}}),
    ]
    asked = [(f"id{i}", name, json.dumps(given)) for i, (name, given) in enumerate(calls)]
    script.answer(*[reply("", each) for each in asked], reply("done"))
    seen: list[object] = []

    def outside(given: object) -> str:
        seen.append(given)
        return "taken"

    outcome = run(COERCING, connections=at(script, "openai"), handlers={"tool:Till::outside": outside})
    assert outcome.lines[:1] == ["Amount { euros: 42, cents: 5 } 3"], outcome
    told = [line.split(" ")[0] for line in outcome.lines[1:]]
    assert told == ["true", "false", "true", "true", "false"], outcome.out
    assert seen == [{"amount": {"euros": 42, "cents": 5}}]

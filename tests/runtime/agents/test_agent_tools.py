"""Agents as tools: on every wire, within one budget, and what they may do wrong."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from concerto.json_data import Json
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script, Seen, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
agent Researcher {
    provider: openai, model: "small", description: "Finds facts", system_prompt: "One fact",
    retry_policy: { max_attempts: 1 },
}
agent Writer { provider: openai, model: "large", tools: [Researcher] }
fn main() {
    match Writer.BODY {
        Ok(response) => {
            println(response.text);
            for call in response.tool_calls { println("${call.tool} ${call.success} ${call.result}"); }
        },
        Err(error) => println("${error.kind} ${error.agent}"),
    }
}
"""
ASKS = ("id1", "Researcher", '{"prompt": "How heavy?"}')


def program(body: str = 'execute("Whales")') -> str:
    return PROGRAM.replace("BODY", body)


@pytest.mark.parametrize("wire", REPLIES)
def test_an_agent_asks_another_on_every_wire(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    script.answer(reply("", ASKS), reply("150 tonnes"), reply("Whales are heavy."))
    outcome = run(program(), connections=at(script, wire))
    assert outcome.lines == ["Whales are heavy.", "Researcher true 150 tonnes"], outcome.err
    first, inner, last = (json.dumps(seen.body) for seen in script.seen)
    assert '"Finds facts"' in first
    assert ("How heavy?" in inner, "One fact" in inner, "Whales" in inner) == (True, True, False)
    assert ("150 tonnes" in last, "One fact" in last) == (True, False)


INPUT = """
fn known(trip: Trip) -> Result<Bool, String> {
    if trip.city == "Atlantis" { return Err("nobody knows where that is"); }
    Ok(true)
}
@validate(known) schema Trip { city: String, days: Int = 2, next?: Trip }
agent Guide { provider: openai, model: "small", description: "Plans trips", input: Trip }
agent Desk { provider: openai, model: "large" }
fn main() {
    let response = Desk.with_tools([Guide]).execute("A trip").unwrap();
    for call in response.tool_calls { println("${call.tool} ${call.success} ${call.result}"); }
}
"""


@pytest.mark.parametrize("wire", REPLIES)
def test_it_is_asked_with_the_fields_of_a_schema(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    lost, wrong, good = ('{"city": "Atlantis"}', '{"days": 3}', '{"city": "Paris", "next": {"city": "Rome"}}')
    asked = [("id1", "Guide", lost), ("id2", "Guide", wrong), ("id3", "Guide", good)]
    script.answer(*[reply("", each) for each in asked], reply("The Louvre"), reply("Done"))
    outcome = run(INPUT, connections=at(script, wire))
    failed, missing, answered = outcome.lines
    assert "nobody knows where that is" in failed and "city" in missing, outcome.err
    assert answered == "Guide true The Louvre"
    assert '"days"' in json.dumps(script.seen[0].body)
    told = json.dumps(json.dumps({"city": "Paris", "days": 2, "next": {"city": "Rome", "days": 2}}))
    assert told.removesuffix('}}"') in json.dumps(script.seen[3].body)


def test_an_array_of_agents_is_asked_at_run_time(script: Script, run: Run) -> None:
    source = """
    agent Guide { provider: openai, description: "Plans trips" }
    agent Mute { provider: openai }
    agent Desk { provider: openai }
    fn main() {
        for others in [[Guide], [Guide, Mute]] {
            match Desk.with_tools(others).execute("A trip") {
                Ok(response) => println(response.text),
                Err(error) => println("${error.kind} ${error.message}"),
            }
        }
    }
    """
    script.answer(chat_reply("Paris"))
    outcome = run(source, connections=at(script, "openai"))
    said = "`Mute` has no `description`, so no model can be told what it is for"
    assert outcome.lines == ["Paris", f"BadTools {said}"], outcome.err
    assert [tool["function"]["name"] for tool in script.seen[0].body["tools"]] == ["Guide"]


def test_what_it_spends_is_in_the_callers_budget(script: Script, run: Run) -> None:
    def answer(seen: Seen) -> Json:
        if seen.body["model"] == "small":
            return chat_reply("150 tonnes", usage={"prompt_tokens": 2000, "completion_tokens": 10})
        return chat_reply(None, ASKS)

    script.answer(answer)
    outcome = run(program('with_budget(tokens: 1500).execute("Whales")'), connections=at(script, "openai"))
    assert outcome.out == "BudgetExceeded Writer\n"
    assert [seen.body["model"] for seen in script.seen] == ["large", "small"]


def test_its_failure_is_told_to_the_model(script: Script, run: Run) -> None:
    down = Answer({"error": {"message": "down"}}, 503)
    script.answer(chat_reply(None, ASKS), down, chat_reply("I do not know."))
    outcome = run(program(), connections=at(script, "openai"))
    assert outcome.lines[0] == "I do not know."
    assert outcome.lines[1].startswith("Researcher false ")
    assert '"kind": "ProviderError"' in script.seen[2].body["messages"][-1]["content"]

"""Many tools: a search in place of their schemas, on every wire, with everything that holds for a call."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from concerto.runtime.agents.tool_search import ranked
from concerto.runtime.llm.requests import ToolOffer
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

METHODS = "".join(
    f'@describe("Sends the report of month {n}") pub fn month{n}() -> Int {{ {n} }}\n' for n in range(12)
)
PROGRAM = """
tool Reports { description: "Sends reports", METHODS }
tool Weather {
    description: "Knows the weather",
    @describe("The temperature in a city")
    pub fn temperature(@param("The city") city: String) -> String { "mild in ${city}" }
    @sink(admin)
    @describe("Changes the weather of a city")
    pub fn change(@param("The city") city: String) -> String { println("changed"); "done" }
}
agent Assistant { provider: openai, model: "m", tools: [Reports, Weather], tool_search: 5, MORE }
fn main() {
    let response = Assistant.execute("How warm is Paris?").unwrap();
    println(response.text);
    for call in response.tool_calls { println("${call.name} ${call.success} ${call.result}"); }
}
""".replace("METHODS", METHODS)
SEARCH = ("id1", "tool_search", '{"query": "temperature of cities"}')
FOUND = ("id2", "Weather__temperature", '{"city": "Paris"}')
CHANGE = ("id3", "Weather__change", '{"city": "Paris"}')


def program(more: str = "") -> str:
    return PROGRAM.replace("MORE", more)


def names(script: Script) -> list[list[str]]:
    return [[tool["function"]["name"] for tool in seen.body["tools"]] for seen in script.seen]


@pytest.mark.parametrize("wire", REPLIES)
def test_a_search_stands_for_many_tools_on_every_wire(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    script.answer(reply("", SEARCH), reply("", FOUND), reply("Mild"))
    outcome = run(program(), connections=at(script, wire))
    assert outcome.lines[0] == "Mild", outcome.err
    assert outcome.lines[2] == "Weather__temperature true mild in Paris"
    first, second, third = (json.dumps(seen.body["tools"]) for seen in script.seen)
    assert ("tool_search" in first, "Weather__temperature" in first) == (True, False)
    assert ("tool_search" in second, "Weather__temperature" in second) == (True, True)
    assert ("Reports__month1" in second, third) == (False, second)


def test_few_tools_are_shown_as_they_are(script: Script, run: Run) -> None:
    script.answer(chat_reply("Mild"))
    run(program().replace("tool_search: 5", "tool_search: 14"), connections=chat_at(script.url))
    assert len(names(script)[0]) == 14


def test_a_tool_that_is_called_as_the_search_is_run(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("id1", "tool_search", '{"city": "Paris"}')), chat_reply("Mild"))
    source = program().replace('@describe("The temp', '@name("tool_search") @describe("The temp')
    outcome = run(source.replace("tool_search: 5", "tool_search: 14"), connections=chat_at(script.url))
    assert outcome.lines[1:] == ["tool_search true mild in Paris"], outcome.err


def test_a_search_that_finds_nothing_says_so(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("id1", "tool_search", '{"query": "xylophone"}')), chat_reply("Sorry"))
    assert "no tool has these words" in run(program(), connections=chat_at(script.url)).lines[1]
    assert names(script)[1] == ["tool_search"]


def test_what_was_found_is_allowed_as_ever(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, SEARCH), chat_reply(None, CHANGE), chat_reply("No"))
    outcome = run(program("allowed_tools: [Reports]"), connections=chat_at(script.url))
    assert "may not be called" in outcome.lines[2], outcome.err


def test_what_was_found_is_permitted_as_ever(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, SEARCH), chat_reply(None, CHANGE), chat_reply("No"))
    denied = {"permissions": {"Weather": {"change": False}}}
    outcome = run(program(), connections=chat_at(script.url), manifest=denied)
    assert "there is no tool `Weather__change`" in outcome.lines[2], outcome.err


@pytest.mark.parametrize("guard", ["lock", "deny"])
def test_a_sink_that_was_found_is_guarded(script: Script, run: Run, guard: str) -> None:
    source = program(f'guard: "{guard}"').replace(
        '@describe("The temperature', '@source(untrusted) @describe("The temperature'
    )
    script.answer(*[chat_reply(None, each) for each in (SEARCH, FOUND, CHANGE)], chat_reply("No"))
    outcome = run(source, connections=chat_at(script.url), manifest={"trust": {"mode": "deny"}})
    assert outcome.lines[3].startswith("Weather__change false"), outcome.err
    assert "changed" not in outcome.lines
    assert ("Weather__change" in names(script)[2]) == (guard == "deny")


def test_the_tool_that_has_to_be_called_is_shown(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, FOUND), chat_reply("Mild"))
    outcome = run(program("tool_choice: Weather::temperature"), connections=chat_at(script.url))
    assert outcome.lines[0] == "Mild", outcome.err
    assert names(script)[0] == ["tool_search", "Weather__temperature"]


def test_programs_of_models_call_what_was_found(script: Script, run: Run) -> None:
    written = json.dumps({"source": 'fn main() -> Any { Weather::temperature("Rome") }'})
    program_call = ("id2", "run_program", written)
    script.answer(chat_reply(None, SEARCH), chat_reply(None, program_call), chat_reply("Mild"))
    outcome = run(program('code: "only"'), connections=chat_at(script.url))
    assert names(script) == [["tool_search", "run_program"]] * 3, outcome.err
    described = script.seen[1].body["tools"][1]["function"]["description"]
    assert ("Weather::temperature" in described, "Reports::month1" in described) == (True, False)
    assert "mild in Rome" in script.seen[2].body["messages"][-1]["content"]


def test_rare_words_and_names_count_for_more() -> None:
    offers = [
        ToolOffer("Mail__send", "Sends a text to somebody", {}),
        ToolOffer("Report__make", "Sends nothing, makes a text", {}),
        ToolOffer("invoiceCreate", "Bills a customer", {"properties": {"euros": {"description": "Sum"}}}),
    ]
    assert [each.name for each in ranked("sending mails", offers)] == ["Mail__send", "Report__make"]
    assert ranked("create invoices", offers)[0].name == "invoiceCreate"
    assert ranked("euro", offers)[0].name == "invoiceCreate"
    assert ranked("", offers) == []

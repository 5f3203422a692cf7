"""Prompt caches: each request of a conversation begins as the one before, byte by byte, and the trace says
where it does not."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import pairwise

import pytest

from concerto.json_data import Json
from concerto.vocabulary.features import AUTOMATIC
from concerto.vocabulary.providers import PROVIDERS
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.running import Outcome
from tests.runtime.servers import Script, Seen

Run = Callable[..., Outcome]

PROGRAM = """
tool Notes {
    description: "Keeps notes",
    @describe("How long a text is")
    pub fn size(@param("The text") text: String, @param("In words") words: Bool = false) -> Int { text.len() }
    @describe("What time it is")
    pub fn now() -> Map<String, Any> { {"zone": "UTC", "hour": 12} }
}
schema Person { name: String, age: Int }
agent Assistant {
    provider: openai, model: "m", tools: [Notes], system_prompt: "Be brief.", temperature: 0.5,
    max_iterations: 12,
}
fn main() {
    let talk = Assistant.session("a");
    println(talk.execute("Hello").unwrap().text);
    println(talk.execute("And now?").unwrap().text);
}
"""
MESSAGES = {"openai-responses": "input", "google": "contents"}
"""What a wire calls the messages, where it is something else."""


def around_messages(seen: Seen, wire: str) -> tuple[str, str]:
    """A body until the end of its last message, and what stands behind the messages."""
    text = seen.content.decode()
    head = f'"{MESSAGES.get(wire, "messages")}":'
    begin = text.index(head) + len(head)
    begin += len(text[begin:]) - len(text[begin:].lstrip())
    _, end = json.JSONDecoder().raw_decode(text, begin)
    return text[: end - 1], text[end:]


@pytest.mark.parametrize("wire", REPLIES)
def test_every_request_begins_as_the_one_before(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    turns = [
        reply("", (f"id{n}", "Notes__size", json.dumps({"words": bool(n % 2), "text": "é" * n})))
        for n in range(9)
    ]
    clock = reply("", ("id9", "Notes__now", "{}"))
    script.answer(*turns, clock, reply("Hi"), reply("", ("id10", "Notes__now", "{}")), reply("Now"))
    trace = io.StringIO()
    outcome = run(PROGRAM, connections=at(script, wire), trace=trace)
    assert outcome.lines == ["Hi", "Now"], outcome.err
    assert len(script.seen) == 13
    bodies = [around_messages(seen, wire) for seen in script.seen]
    for (before, rest), (after, next_rest) in pairwise(bodies):
        assert after.startswith(before)
        assert next_rest == rest
    assert '"prefix_broken"' not in trace.getvalue()


CHAT = (
    PROGRAM.partition("fn main")[0]
    + """
fn main() {
    let mut talk = Assistant.execute("Hello").unwrap().messages;
    talk.push(Message { role: "user", content: "And now?" });
    println(Assistant.chat(talk).unwrap().text);
}
"""
)


@pytest.mark.parametrize("wire", REPLIES)
def test_a_chat_begins_as_the_conversation_that_it_goes_on_with(script: Script, run: Run, wire: str) -> None:
    texts = ['{ "words" : true,"text":"\\u00e9" }', '{"text": "é"}', '{"text": 5}']
    if wire in ("openai", "openai-responses"):  # Elsewhere arguments are no text.
        texts += ['{"text": ', "[]", "", "null"]
    turns = [REPLIES[wire]("", (f"id{n}", "Notes__size", text)) for n, text in enumerate(texts)]
    script.answer(*turns, REPLIES[wire]("Hi"), REPLIES[wire]("Now"))
    assert run(CHAT, connections=at(script, wire)).lines == ["Now"]
    bodies = [around_messages(seen, wire) for seen in script.seen]
    assert len(bodies) == len(turns) + 2
    for (before, rest), (after, next_rest) in pairwise(bodies):
        assert after.startswith(before)
        assert next_rest == rest


def test_breakpoints_on_anthropic(script: Script, run: Run) -> None:
    script.answer(REPLIES["anthropic"]("", ("id1", "Notes__now", "{}")), REPLIES["anthropic"]("Hi"))
    run(PROGRAM, connections=at(script, "anthropic"))
    for seen in script.seen:
        assert seen.body["cache_control"] == {"type": "ephemeral"}
        assert seen.body["system"] == [
            {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
        ]
        assert not any("cache_control" in tool for tool in seen.body["tools"])


def test_breakpoints_without_a_system_prompt_and_without_a_second_request(script: Script, run: Run) -> None:
    script.answer(REPLIES["anthropic"]("Hi"))
    plain = PROGRAM.replace('system_prompt: "Be brief.", ', "")
    run(plain, connections=at(script, "anthropic"))
    tools = script.seen[0].body["tools"]
    assert [tool.get("cache_control") for tool in tools] == [None, {"type": "ephemeral"}]
    script.seen.clear()
    run(plain.replace("tools: [Notes], ", ""), connections=at(script, "anthropic"))
    first, second = (seen.body for seen in script.seen)
    assert ("cache_control" in first, "cache_control" in second) == (False, True)


USAGE: dict[str, Json] = {
    "openai": {"usage": {"prompt_tokens": 10}},
    "openai-responses": {"usage": {"input_tokens": 10}},
    "anthropic": {"usage": {"input_tokens": 1, "cache_creation_input_tokens": 1}},
    "google": {"usageMetadata": {"promptTokenCount": 10}},
    "ollama": {"prompt_eval_count": 10},
}


@pytest.mark.parametrize("wire", USAGE)
def test_what_the_server_had_in_its_cache_is_in_the_response(script: Script, run: Run, wire: str) -> None:
    answer = {**REPLIES[wire]("Hello"), **USAGE[wire]}
    place = AUTOMATIC["tokens_cached"].wires.get(PROVIDERS[wire].wire)
    if place is not None:
        *steps, last = place.split(".")
        table = answer
        for step in steps:
            table = table.setdefault(step, {})
        table[last] = 8
    script.answer(answer)
    source = """
    agent Assistant { provider: openai, model: "m" }
    fn main() { let r = Assistant.execute("Sum").unwrap(); println("${r.tokens_in} ${r.tokens_cached}"); }
    """
    assert run(source, connections=at(script, wire)).out == f"10 {8 if place else 0}\n"


@pytest.mark.parametrize("wire", REPLIES)
def test_breakpoints_stand_where_the_table_says(script: Script, run: Run, wire: str) -> None:
    script.answer(REPLIES[wire]("Hi"))
    run(PROGRAM, connections=at(script, wire))
    place = AUTOMATIC["cache_breakpoint"].wires.get(PROVIDERS[wire].wire)
    body = script.seen[0].body
    assert {key for key in body if "cache" in key} == ({place} if place else set())


FOUND = """
@tool_provider(id: "id") struct Customer { id: String }
impl Customer {
    @describe("What they owe")
    pub fn debt(self) -> Int { 5 }
}
tool Customers {
    description: "Finds customers",
    @describe("Find one")
    pub fn find() -> Customer { Customer { id: "7" } }
}
agent Assistant { provider: openai, model: "m", tools: [Customers] }
fn main() { println(Assistant.with_tool_discovery().execute("Who?").unwrap().text); }
"""


def test_the_trace_says_what_broke_the_prefix(script: Script, run: Run) -> None:
    reply = REPLIES["openai"]
    again = reply("", ("id2", "customer_7_debt", "{}"))
    script.answer(reply("", ("id1", "Customers__find", "{}")), again, reply("Ann"))
    trace = io.StringIO()
    assert run(FOUND, connections=at(script, "openai"), trace=trace).out == "Ann\n"
    lines = [json.loads(line) for line in trace.getvalue().splitlines()]
    notes = [line["facts"] for line in lines if line.get("kind") == "prefix_broken"]
    assert notes == [{"agent": "Assistant", "iteration": 2, "changed": ["tools"]}]

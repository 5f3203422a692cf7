"""Partial values of a type while an answer arrives: on every wire, in a replay, and when it goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest

from concerto.json_data import Json
from concerto.vocabulary.features import FEATURES
from concerto.vocabulary.providers import PROVIDERS
from tests.runtime.llm.test_bad_servers import REPLIES, at
from tests.runtime.llm.test_features import at_place
from tests.runtime.running import Outcome, make_runtime
from tests.runtime.servers import Answer, ModelServer, Script

Run = Callable[..., Outcome]

SCHEMAS = """
fn old_enough(person: Person) -> Result<Bool, String> {
    if person.age < 18 { Err("too young") } else { Ok(true) }
}
enum Mood { Good, Bad }
schema Home { street: String, floor?: Int }
@validate(old_enough)
schema Person {
    name: String, age: Int, mood: Mood, homes: Array<Home>, rates: Map<String, Float>, note?: String,
}
schema Page<T> { items: Array<T> }
agent Reader { provider: openai, model: "m", retry_policy: { max_attempts: 2 } }
"""
PROGRAM = (
    SCHEMAS
    + """
fn text(person: Partial<Person>) -> String {
    let homes = person.homes.unwrap_or([]).map(|home| home.street.unwrap_or("-"));
    "${person.name.unwrap_or("?")} ${person.age} ${person.mood} ${homes}"
}
fn main() {
    match Reader.stream_with_schema<Person>("Who?") {
        Ok(chunks) => {
            for chunk in chunks.results() {
                match chunk {
                    Ok(part) => println("${text(part.partial)} ${part.value.map(|person| person.age)}"),
                    Err(error) => println("${error.kind}: ${error.message}"),
                }
            }
        },
        Err(error) => println("no stream: ${error.kind}"),
    }
}
"""
)
ADA = '{"name": "Ada", "age": 36, "mood": "Good", "homes": [{"street": "Elm"}], "rates": {"a": 1.5}}'
PIECES = [ADA[:11], ADA[11:14], ADA[14:31], ADA[31:45], ADA[45:66], ADA[66:]]
GIVEN = [
    "A None None [] None",
    "Ada None None [] None",
    "Ada Some(36) None [] None",
    "Ada Some(36) Some(Mood::Good) [] None",
    'Ada Some(36) Some(Mood::Good) ["E"] None',
    'Ada Some(36) Some(Mood::Good) ["Elm"] None',
    'Ada Some(36) Some(Mood::Good) ["Elm"] Some(36)',
]


def _events(wire: str, pieces: Sequence[str]) -> list[Json]:
    """A whole streamed answer, one event for each piece."""
    whole = "".join(pieces)
    match wire:
        case "openai":
            deltas: list[Json] = [{"choices": [{"delta": {"content": each}}]} for each in pieces]
            return [*deltas, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
        case "openai-responses":
            deltas = [{"type": "response.output_text.delta", "delta": each} for each in pieces]
            return [*deltas, {"type": "response.completed", "response": REPLIES[wire](whole)}]
        case "anthropic":
            block = {"type": "tool_use", "id": "t", "name": "structured_answer", "input": {}}
            return [
                {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                *[
                    {
                        "type": "content_block_delta",
                        "index": 0,
                        "delta": {"type": "input_json_delta", "partial_json": each},
                    }
                    for each in pieces
                ],
                {"type": "content_block_stop", "index": 0},
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "tool_use"},
                    "usage": {"output_tokens": 9},
                },
                {"type": "message_stop"},
            ]
        case "google":
            parts = [{"content": {"parts": [{"text": each}]}} for each in pieces]
            return [{"candidates": [each]} for each in (*parts, {"finishReason": "STOP"})]
        case _:
            deltas = [{"message": {"content": each}, "done": False} for each in pieces]
            return [*deltas, {"message": {"content": ""}, "done": True, "done_reason": "stop"}]


def streamed(wire: str, pieces: Sequence[str] = PIECES) -> str:
    before, after = ("", "\n") if wire == "ollama" else ("data: ", "\n\n")
    return "".join(f"{before}{json.dumps(each)}{after}" for each in _events(wire, pieces))


@pytest.mark.parametrize("wire", REPLIES)
def test_partial_values_on_every_wire(script: Script, run: Run, wire: str) -> None:
    script.answer(Answer(streamed(wire)))
    tier = "interpreter" if wire == "openai" else "python"
    outcome = run(PROGRAM, connections=at(script, wire), tier=tier)
    assert outcome.lines == GIVEN, outcome.err
    body = script.seen[0].body
    if wire in ("google", "anthropic", "ollama"):
        assert "stream" in json.dumps(body) or "stream" in script.seen[0].path
    place = FEATURES["partial"].wires[PROVIDERS[wire].wire]
    assert at_place(body, place)["properties"].keys() >= {"name", "mood"}


def test_partial_values_from_a_real_server(model_server: ModelServer, run: Run) -> None:
    model_server.reply(ADA)
    outcome = run(PROGRAM, connections={"openai": model_server.connection("openai")})
    assert outcome.lines[-1] == GIVEN[-1], outcome.err
    assert len(outcome.lines) > 3


def test_an_answer_that_does_not_fit_is_asked_again_without_parts(script: Script, run: Run) -> None:
    young = [each.replace("36", "12") for each in PIECES]
    script.answer(Answer(streamed("openai", young)), Answer(streamed("openai")))
    outcome = run(PROGRAM, connections=at(script, "openai"))
    assert outcome.lines == [each.replace("36", "12") for each in GIVEN[:-1]] + GIVEN[-1:]
    assert "too young" in script.seen[1].body["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("pieces", "last"),
    [
        (["I do ", "not {know}", " [1]"], "no stream: SchemaError"),
        (['{"name": 7, "age": "old"', ', "mood": "so so"}'], "SchemaError: `Reader` gave no valid `Person` "),
        (['{"name": "Ada", "age": 3'], "SchemaError: `Reader` gave no valid `Person` in 2 attempts: "),
    ],
    ids=["prose", "other types", "half"],
)
def test_what_is_no_value(script: Script, run: Run, pieces: list[str], last: str) -> None:
    script.answer(Answer(streamed("openai", pieces)))
    outcome = run(PROGRAM, connections=at(script, "openai"))
    assert outcome.lines[-1].startswith(last), outcome.err
    assert not [line for line in outcome.lines[:-1] if "Some(" in line]


def test_a_stream_that_is_cut(script: Script, run: Run) -> None:
    script.answer(Answer(streamed("openai").partition('data: {"choices": [{"delta": {}')[0]))
    outcome = run(PROGRAM, connections=at(script, "openai"))
    assert outcome.lines[:-1] == GIVEN[:-1]
    assert outcome.lines[-1].startswith("StreamBroken: ")


def test_what_is_said_before_a_call_is_no_answer(script: Script, run: Run) -> None:
    call = [{"index": 0, "id": "c", "function": {"name": "Clock__now", "arguments": "{}"}}]
    asks: list[Json] = [
        {"choices": [{"delta": {"content": "I ask {first"}}]},
        {"choices": [{"delta": {"tool_calls": call}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    script.answer(
        Answer("".join(f"data: {json.dumps(each)}\n\n" for each in asks)), Answer(streamed("openai"))
    )
    clock = 'tool Clock { description: "The time", @describe("Now") pub fn now(self) -> String { "noon" } }'
    source = PROGRAM.replace('model: "m",', 'model: "m", tools: [Clock],') + clock
    outcome = run(source, connections=at(script, "openai"))
    assert outcome.lines == GIVEN, outcome.err


def test_parts_of_a_generic_type_are_of_its_arguments(script: Script, run: Run) -> None:
    source = """
    fn main() {
        let mut last: Any = nil;
        for chunk in Reader.stream_with_schema<Page<Home>>("Who?").unwrap() { last = chunk.partial; }
        let homes = last as Partial<Page<Home>>;
        println(homes.items.map(|items| items.map(|home| home.street)));
        try { println((last as Partial<Page<Person>>).items); } catch RuntimeError(e) { println(e); }
    }
    """
    page = '{"items": [{"street": "Elm"}, {"street": "Oak"}]}'
    script.answer(Answer(streamed("openai", [page[:20], page[20:]])))
    outcome = run(SCHEMAS + source, connections=at(script, "openai"))
    assert outcome.lines == [
        'Some([Some("Elm"), Some("Oak")])',
        "expected `Partial<Person>`, found `Partial<Home>` at `items[0]`",
    ], outcome.err


def test_a_replay_gives_the_same_parts(script: Script, tmp_path: Path) -> None:
    script.answer(Answer(streamed("openai")))
    place, lines = tmp_path / "x.conc-run", []
    for kept in ({"record": place}, {"replay": place}):
        made = make_runtime(
            PROGRAM, at(script, "openai"), None, quiet=True, output=(out := StringIO()), echo=True, **kept
        )
        assert made.run().ok
        lines.append(out.getvalue().splitlines())
    assert (lines, len(script.seen)) == ([GIVEN, GIVEN], 1)

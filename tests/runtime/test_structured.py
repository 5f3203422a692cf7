"""`execute_with_schema`: the schema on every wire, lenient reading, validation, and asking again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import ModelServer, Script, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
schema Person { name: String, age: Int, tags?: Array<String>, mood: "good" | "bad" = "good" }
agent Extractor { provider: openai, model: "gpt-4o" }
fn main() {
    match Extractor.execute_with_schema<Person>("Ann is 42") {
        Ok(person) => println("${person.name} ${person.age} ${person.mood}"),
        Err(error) => println("${error.kind}: ${error.message}"),
    }
}
"""


@pytest.mark.parametrize(
    ("reply", "printed"),
    [
        ('{"name": "Ann", "age": 42}', "Ann 42 good"),
        (
            'Here you are:\n```json\n{"name": "Ann", "age": 42, "mood": "bad"}\n```\nAnything else?',
            "Ann 42 bad",
        ),
        ("Sure! {'name': 'Ann', 'age': 42,} // done", "Ann 42 good"),
        ('{"name": "Ann", "age": 42, "tags": ["a", "b"', "Ann 42 good"),
        ('{name: "Ann", /* years */ age: 42}', "Ann 42 good"),
    ],
)
def test_replies_are_read_leniently(script: Script, run: Run, reply: str, printed: str) -> None:
    script.answer(chat_reply(reply))
    assert run(PROGRAM, connections=chat_at(script.url)).out == printed + "\n"
    assert len(script.seen) == 1


def test_every_repair_is_told(script: Script, run: Run) -> None:
    script.answer(chat_reply("```\n{'name': 'Ann', \"age\": 42,}\n```"))
    outcome = run(PROGRAM, connections=chat_at(script.url), quiet=False)
    told = next(line for line in outcome.lines if "agent:repaired" in line)
    assert "code fence removed" in told
    assert "single quotes accepted" in told
    assert "trailing comma removed" in told


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ('{"name": "Ann"}', "age"),
        ('{"name": "Ann", "age": "old"}', "age"),
        ("I do not know", "the reply is not JSON"),
        ('{"name": "Ann", "age": 1} or {"name": "Bob", "age": 2}', "2 different JSON values"),
    ],
)
def test_what_does_not_fit_is_asked_for_again(script: Script, run: Run, reply: str, complaint: str) -> None:
    script.answer(chat_reply(reply), chat_reply('{"name": "Ann", "age": 42}'))
    assert run(PROGRAM, connections=chat_at(script.url)).out == "Ann 42 good\n"
    again = script.seen[1].body["messages"][-1]
    assert again["role"] == "user"
    assert complaint in again["content"]


def test_after_three_attempts_it_is_an_error(script: Script, run: Run) -> None:
    script.answer(chat_reply("no"))
    outcome = run(PROGRAM, connections=chat_at(script.url))
    assert outcome.out.startswith("SchemaError: `Extractor` gave no valid `Person` in 3 attempts")
    assert len(script.seen) == 3


def test_errors_name_types_and_places_as_programs_write_them(script: Script, run: Run) -> None:
    script.answer(chat_reply('{"a": "x"}'))
    source = (
        PROGRAM[: PROGRAM.index("fn main")]
        + """
    fn main() { println(Extractor.execute_with_schema<Map<String, Int>>("x").err().unwrap().message); }
    """
    )
    wrong = "expected `Int`, found `String` at `a`"
    assert run(source, connections=chat_at(script.url)).lines == [
        f"`Extractor` gave no valid `Map<String, Int>` in 3 attempts: {wrong}"
    ]
    assert f"Problem: {wrong}\n" in script.seen[1].body["messages"][-1]["content"]
    assert script.seen[0].body["response_format"]["json_schema"]["name"] == "Map_String_Int"


def test_the_native_form_of_the_openai_wire(script: Script, run: Run) -> None:
    script.answer(chat_reply('{"name": "Ann", "age": 42}'))
    run(PROGRAM, connections=chat_at(script.url))
    asked: Any = script.seen[0].body["response_format"]
    assert asked["type"] == "json_schema"
    assert asked["json_schema"]["name"] == "Person"
    assert asked["json_schema"]["schema"]["required"] == ["name", "age"]


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "google"])
def test_the_native_form_makes_a_real_server_answer_with_the_schema(
    model_server: ModelServer, run: Run, provider: str
) -> None:
    outcome = run(PROGRAM, connections={"openai": model_server.connection(provider)})
    assert "Error" not in outcome.out, outcome.out


def test_anthropic_is_made_to_call_a_tool_with_the_answer(model_server: ModelServer, run: Run) -> None:
    model_server.call("structured_answer", {"name": "Ann", "age": 42})
    outcome = run(PROGRAM, connections={"openai": model_server.connection("anthropic")})
    assert outcome.out == "Ann 42 good\n"
    body = model_server.requests()[0]["body"]
    assert body["tool_choice"] == {"type": "tool", "name": "structured_answer"}


def test_mock_gives_the_smallest_value(run: Run) -> None:
    assert run(PROGRAM, mock=True).out == " 0 good\n"


def test_arrays_are_wrapped_for_the_wire(script: Script, run: Run) -> None:
    script.answer(chat_reply('{"value": [1, 2]}'))
    source = """
    agent Extractor { provider: openai, model: "gpt-4o" }
    fn main() { println(Extractor.execute_with_schema<Array<Int>>("Count").unwrap()); }
    """
    assert run(source, connections=chat_at(script.url)).out == "[1, 2]\n"
    schema = script.seen[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["value"]["type"] == "array"


def test_validators_speak_to_the_model(script: Script, run: Run) -> None:
    source = PROGRAM.replace(
        "schema Person",
        """
fn grown(person: Person) -> Result<Bool, String> {
    if person.age < 18 { Err("too young") } else { Ok(true) }
}
@validate(grown)
schema Person""",
    )
    script.answer(chat_reply('{"name": "Bob", "age": 7}'), chat_reply('{"name": "Ann", "age": 42}'))
    assert run(source, connections=chat_at(script.url)).out == "Ann 42 good\n"
    assert "too young" in script.seen[1].body["messages"][-1]["content"]


def test_validators_hold_for_arguments_of_tools(script: Script, run: Run) -> None:
    source = """
    fn grown(age: Int) -> Result<Bool, String> {
        if age < 18 { Err("too young") } else { Ok(true) }
    }
    schema Person {
        @validate(grown)
        age: Int,
    }
    tool Club {
        description: "A club",
        @describe("Take people in")
        pub fn join(@param("Who") people: Array<Person>) -> Int { people.len() }
    }
    agent Assistant { provider: openai, model: "gpt-4o", tools: [Club] }
    fn main() { println(Assistant.execute("go").unwrap().text); }
    """
    script.answer(
        chat_reply(None, ("1", "Club__join", '{"people": [{"age": 42}, {"age": 7}]}')),
        chat_reply(None, ("2", "Club__join", '{"people": [{"age": 42}]}')),
        chat_reply("done"),
    )
    assert run(source, connections=chat_at(script.url)).out == "done\n"
    told = [request.body["messages"][-1]["content"] for request in script.seen]
    assert "too young" in told[1]
    assert told[2] == "1"


CUT = chat_reply('{"name": "Ann", "ag')
CUT["choices"][0]["finish_reason"] = "length"


def test_an_answer_that_was_cut_is_asked_for_once_with_more_room(script: Script, run: Run) -> None:
    source = PROGRAM.replace('"gpt-4o"', '"gpt-4o", max_tokens: 50')
    script.answer(CUT, chat_reply('{"name": "Ann", "age": 42}'))
    assert run(source, connections=chat_at(script.url)).lines == ["Ann 42 good"]
    assert [seen.body["max_tokens"] for seen in script.seen] == [50, 200]
    assert script.seen[1].body["messages"] == script.seen[0].body["messages"]


@pytest.mark.parametrize(
    ("limit", "requests", "said"),
    [
        (", max_tokens: 50", 2, "in 2 attempts: the answer was cut at `max_tokens: 200`"),
        (
            ", max_tokens: 50, retry_policy: { max_attempts: 1 }",
            1,
            "in 1 attempt: the answer was cut at `max_tokens: 50`",
        ),
        ("", 1, "in 1 attempt: the answer was cut after 5 tokens, its server's limit"),
    ],
)
def test_an_answer_that_stays_cut_is_not_paid_for_again(
    script: Script, run: Run, limit: str, requests: int, said: str
) -> None:
    script.answer(CUT)
    outcome = run(PROGRAM.replace('"gpt-4o"', f'"gpt-4o"{limit}'), connections=chat_at(script.url))
    assert outcome.lines == [f"SchemaError: `Extractor` gave no valid `Person` {said}"]
    assert len(script.seen) == requests


def test_a_whole_answer_may_end_at_the_limit_but_none_is_completed(script: Script, run: Run) -> None:
    whole = chat_reply('{"name": "Ann", "age": 42}' + " " * 20)
    cut = chat_reply('{"name": "Ann", "age": 42, "tags": ["a"')
    whole["choices"][0]["finish_reason"] = cut["choices"][0]["finish_reason"] = "length"
    script.answer(whole, cut)
    assert run(PROGRAM, connections=chat_at(script.url)).lines == ["Ann 42 good"]
    assert "the answer was cut" in run(PROGRAM, connections=chat_at(script.url)).out


def test_anthropics_answer_tool_tells_that_it_was_cut(script: Script, run: Run) -> None:
    block = {"type": "tool_use", "id": "1", "name": "structured_answer", "input": {"name": "Ann"}}
    script.answer({"model": "m", "stop_reason": "max_tokens", "content": [block]})
    source = PROGRAM.replace("provider: openai", "provider: anthropic")
    connections = {"anthropic": {"provider": "anthropic", "base_url": script.url}}
    assert "the answer was cut" in run(source, connections=connections).out

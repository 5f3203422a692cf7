"""A stream that breaks off ends the loop over it by `throw` of an AgentError, wherever the loop stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.runtime.running import AGENTS, Outcome, chat_at
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]
BROKEN = Answer("data: " + json.dumps({"choices": [{"delta": {"content": "half"}}]}) + "\n\n")

PLACES = {
    "a function": (
        """fn read() -> Result<String, AgentError> {
            for chunk in Reader.stream("x")? { print(chunk.text); }
            Ok("whole")
        }""",
        'match read() { Ok(text) => println(text), Err(e) => println(" ${e.kind}") }',
        "half StreamBroken",
    ),
    "a pattern in the head": (
        """fn read() -> Result<String, AgentError> {
            for (i, chunk) in [(0, Reader.stream("x")?)] {
                for _ in chunk { print("${i}"); }
            }
            Ok("whole")
        }""",
        'match read() { Ok(text) => println(text), Err(e) => println(" ${e.kind}") }',
        "0 StreamBroken",
    ),
    "a function with an error of its own": (
        """struct Trouble { why: String }
        impl From<AgentError> for Trouble {
            fn from(e: AgentError) -> Trouble { Trouble { why: e.kind } }
        }
        fn read() -> Result<String, Trouble> {
            let stream = Reader.stream("x")?;
            for chunk in stream { print(chunk.text); }
            Ok("whole")
        }""",
        'match read() { Ok(text) => println(text), Err(e) => println(" ${e.why}") }',
        "half StreamBroken",
    ),
    "a closure": (
        "",
        """let read = || -> Result<Int, AgentError> {
            for chunk in Reader.stream("x")? { print(chunk.text); }
            Ok(1)
        };
        println(" ${read().err().unwrap().kind}");""",
        "half StreamBroken",
    ),
    "a branch": (
        """fn read() -> Result<Int, AgentError> {
            let all = parallel for i in 0..1 {
                for chunk in Reader.stream("x")? { print(chunk.text); }
                i
            };
            Ok(all.len())
        }""",
        'println(" ${read().is_err()}");',
        "half true",
    ),
    "a try": (
        """fn read() -> Result<Int, AgentError> {
            try {
                for chunk in Reader.stream("x")? { print(chunk.text); }
            } catch SchemaError(e) { println("no"); }
            Ok(1)
        }""",
        'println(" ${read().is_err()}");',
        "half true",
    ),
    "a try that takes it": (
        "",
        """try {
            for chunk in Reader.stream("x")? { print(chunk.text); }
        } catch AgentError(e) { println(" ${e.kind}"); }""",
        "half StreamBroken",
    ),
    "a method of a library type": (
        "",
        """for part in Reader.stream("x").unwrap().results() {
            match part { Ok(chunk) => print(chunk.text), Err(e) => println(" ${e.kind}") }
        }""",
        "half StreamBroken",
    ),
}


@pytest.mark.parametrize("tier", ["python", "interpreter"])
@pytest.mark.parametrize("place", PLACES)
def test_a_broken_stream_is_thrown(script: Script, run: Run, place: str, tier: Any) -> None:
    declarations, body, expected = PLACES[place]
    script.answer(BROKEN)
    outcome = run(
        f"{AGENTS} {declarations} fn main() {{ {body} }}", connections=chat_at(script.url), tier=tier
    )
    assert (outcome.err, outcome.lines) == ("", [expected])


FAILING = {
    "nothing": "fn read() { LOOP }",
    "a value": "fn read() -> Int { LOOP 1 }",
    "an Option": "fn read() -> Option<Int> { LOOP None }",
    "a Result of another error": "fn read() -> Result<Int, ParseError> { LOOP Ok(1) }",
    "a closure": "fn read() -> Int { [1].map(|x| -> Int { LOOP x })[0] }",
    "a method": "struct S { n: Int } impl S { fn go(self) { LOOP } } fn read() { S { n: 1 }.go(); }",
    "a branch": "fn read() { let all = parallel for i in 0..2 { LOOP i }; }",
    "a task": "fn read() -> Int { let task = spawn loop_in_task(); task.await } "
    "async fn loop_in_task() -> Int { LOOP 1 }",
}


@pytest.mark.parametrize("tier", ["python", "interpreter"])
@pytest.mark.parametrize("place", FAILING)
def test_where_nothing_can_be_thrown_it_is_a_failure_like_any_other(
    script: Script, run: Run, place: str, tier: Any
) -> None:
    """Caught outside, and told with its place where nobody catches it."""
    script.answer(BROKEN)
    reading = FAILING[place].replace("LOOP", 'for c in Reader.stream("x").unwrap() { print(""); }')
    body = 'try { read(); } catch AgentError(e) { println("${e.kind}"); } read();'
    outcome = run(f"{AGENTS}\n{reading}\nfn main() {{ {body} }}", connections=chat_at(script.url), tier=tier)
    assert outcome.lines == ["StreamBroken"], outcome.err
    assert outcome.status == 1
    assert outcome.err.startswith("error: the stream broke off")
    assert 'for c in Reader.stream("x").unwrap() {' in outcome.err


@pytest.mark.parametrize(
    "broken", [b'data: {"choices": [{"delta": "\xff"}]}', b"data: {", b'data: {"choices": 5}', b"half a line"]
)
def test_what_arrives_together_with_what_cannot_be_read_is_given_before(
    script: Script, run: Run, broken: bytes
) -> None:
    whole = [json.dumps({"choices": [{"delta": {"content": text}}]}).encode() for text in ("a", "b", "c")]
    lines = [b"data: " + each + b"\n" for each in whole]
    script.answer(Answer(b"\r\n".join([*lines, broken, b"\n"])))
    reading = 'try { for c in Reader.stream("x").unwrap() { print(c.accumulated); } }'
    outcome = run(
        f"{AGENTS} fn main() {{ {reading} catch AgentError(e) {{ println(e.message); }} }}",
        connections=chat_at(script.url),
    )
    assert outcome.lines[0].startswith("aababcthe stream broke off: `openai` gave an invalid answer")

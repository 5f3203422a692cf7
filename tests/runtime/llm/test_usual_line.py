"""Lines of a stream that need not be read: whatever changes from one to the next, nothing is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concerto.json_data import Json
from concerto.runtime.llm.usual_line import UsualLine
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script

_TEXTS = [
    "Hello",
    " there",
    "id",
    ":",
    ", ",
    '"',
    "\\",
    "\n",
    "\u2028",
    "ä€",
    "𝄞",
    " ",
    "m",
    "x",
    '","',
    "\x00",
    "a",
]

_lines = st.builds(
    lambda text, other, key, compact: json.dumps(
        {"id": other, key: {"content": text, "n": None}},
        separators=(",", ":") if compact else None,
        ensure_ascii=False,
    ),
    st.sampled_from(_TEXTS),
    st.sampled_from([*_TEXTS, "content"]),
    st.sampled_from(["delta", "a", ":"]),
    st.booleans(),
)


@given(st.lists(_lines, max_size=12))
def test_a_text_that_is_not_read_is_the_one_of_the_line(lines: list[str]) -> None:
    usual = UsualLine()
    for line in lines:
        found = usual.text_of(line)
        [(_, said)] = [pair for pair in json.loads(line).items() if pair[0] != "id"]
        if found:
            assert found == said["content"]
        else:
            usual.learn(line, said["content"])


def test_lines_that_differ_in_their_texts_alone_are_not_read() -> None:
    usual = UsualLine()
    usual.learn('{"id": "x", "delta": "one"}', "one")
    assert usual.text_of('{"id": "x", "delta": " two, or: more"}') == " two, or: more"
    assert not usual.text_of('{"id": "y", "delta": "two"}')
    assert not usual.text_of('{"id": "x", "delta": "two"')
    assert not usual.text_of('{"id": "x", "delta": "a", "b": "c"}')
    assert not usual.text_of('{"id": "x", "delta": ""}')
    assert not usual.text_of(r'{"id": "x", "delta": "a\nb"}')
    assert not usual.text_of('{"id": "x", "delta": "a\x01b"}')
    usual.learn('{"id": "x", "usage": 1}', None)
    assert not usual.text_of('{"id": "x", "delta": "two"}')


@pytest.mark.parametrize(
    ("line", "text", "other"),
    [
        ('{"id": "x", "delta": "x"}', "x", '{"id": "y", "delta": "x"}'),
        (r'{"id": "x", "delta": "\u0078"}', "x", r'{"id": "y", "delta": "\u0078"}'),
        ('{"delta":":"}', ":", '{"delta": ":"}'),
    ],
)
def test_a_text_whose_place_is_unsure_is_read(line: str, text: str, other: str) -> None:
    usual = UsualLine()
    usual.learn(line, text)
    assert not usual.text_of(other)


def test_a_server_whose_lines_never_repeat_is_not_asked_for_ever() -> None:
    usual = UsualLine()
    for number in range(20):
        usual.learn(f'{{"id": {number}, "delta": "one"}}', "one")
    assert not usual.text_of('{"id": 19, "delta": "two"}')


def test_a_server_whose_lines_change_now_and_then_is_asked_for_ever() -> None:
    usual = UsualLine()
    for number in range(20):
        usual.learn(f'{{"id": {number}, "delta": "one"}}', "one")
        assert usual.text_of(f'{{"id": {number}, "delta": "two"}}') == "two"


def test_a_long_stream_of_all_kinds_of_chunks_is_whole(script: Script, run: Callable[..., Outcome]) -> None:
    rng = random.Random(7)
    chunks: list[Json] = []
    said = []
    head: Json = {"id": "x", "created": 1, "model": "m"}
    for _ in range(600):
        text = rng.choice([*_TEXTS, "word ", "a b"])
        chunk: Json = {**head, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        match rng.randrange(12):
            case 0:
                chunk["choices"][0]["index"] = 1
                text = ""
            case 1:
                head["created"] += 1
            case 2:
                chunk["choices"][0]["delta"]["reasoning_content"] = "hm"
            case 3:
                chunk["usage"] = {"prompt_tokens": 5}
            case 4:
                chunk["choices"] = []
                text = ""
            case 5:
                chunk["model"] = "other"
        chunks.append(chunk)
        said += [text] * bool(text)
    stop: Json = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    texts = [json.dumps(each, ensure_ascii=rng.random() < 0.5) for each in (*chunks, stop)]
    script.answer(Answer("".join([f"data: {text}\n\n" for text in texts]) + "data: [DONE]\n\n"))
    program = """
        use std::json;
        agent A { provider: openai, model: "m" }
        fn main() {
            let mut parts = [];
            for chunk in A.stream("Hello").unwrap() {
                if let Some(response) = chunk.response { assert_eq(response.text, parts.join("")); }
                else { parts.push(chunk.text); }
            }
            println(json::stringify(parts));
        }
    """
    outcome = run(program, connections=chat_at(script.url))
    assert json.loads(outcome.out) == said

"""Answers that servers in the field give, in which something is not where others have it: each means what it
says, in whole and in its chunks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from concerto.json_data import Json
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]

PROGRAM = """
tool Notes {
    description: "Keeps notes",
    @describe("Add") pub fn add(@param("a") a: Int, @param("b") b: Int) -> Int { a + b }
}
agent Assistant { provider: openai, model: "m", tools: [Notes], max_iterations: 3 }
fn show(error: AgentError) { println("${error.kind}: ${error.message}"); }
fn main() {
    let mut text = "";
    let mut calls = "";
    for chunk in Assistant.stream("Hello").unwrap() {
        text += chunk.text;
        for call in chunk.tool_calls { calls += " ${call.arguments}"; }
        if chunk.done {
            let whole = chunk.response.unwrap();
            println("${text}${calls} | ${whole.text} ${whole.tool_calls.map(|call| call.result)}");
            println("${whole.stop_reason} ${whole.tokens_in} ${whole.tokens_out}");
        }
    }
}
"""


def events(*said: Json) -> Answer:
    return Answer("".join([f"data: {json.dumps(event)}\n\n" for event in said]))


def delta(finish: str | None = None, index: int = 0, **more: Json) -> Json:
    return {"choices": [{"index": index, "delta": more, "finish_reason": finish}]}


def call(arguments: str, **more: Json) -> Json:
    """A piece of a call of `Notes::add` on OpenAI's wire."""
    name = more.pop("name", None)
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    return {**more, "function": function}


def block(index: int, start: Json, *deltas: Json, ends: bool = True) -> list[Json]:
    """The events of a block on Anthropic's wire."""
    grown = [{"type": "content_block_delta", "index": index, "delta": each} for each in deltas]
    end = [{"type": "content_block_stop", "index": index}] if ends else []
    return [{"type": "content_block_start", "index": index, "content_block": start}, *grown, *end]


def message(*blocks: list[Json], stop: str = "end_turn", **usage: Json) -> Answer:
    """A whole answer on Anthropic's wire."""
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}}
    end = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5, **usage}}
    return events(start, *[each for some in blocks for each in some], end, {"type": "message_stop"})


def text_block(index: int, text: str) -> list[Json]:
    return block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})


def pieces(*texts: str) -> list[Json]:
    return [{"type": "input_json_delta", "partial_json": text} for text in texts]


USE = {"type": "tool_use", "id": "1", "name": "Notes__add", "input": {}}
THOUGHT = block(
    0,
    {"type": "thinking", "thinking": ""},
    {"type": "thinking_delta", "thinking": "hm"},
    {"type": "signature_delta", "signature": "S"},
)
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": "x"}}
FIRST, SECOND = '{"a": 1, "b": 2}', '{"a": 3, "b": 4}'
BOTH = ' {"a": 1, "b": 2} {"a": 3, "b": 4}'
CHAT_END = events(delta(content="done"), delta("stop"))
GEMINI_END = events({"candidates": [{"content": {"parts": [{"text": "done"}]}, "finishReason": "STOP"}]})
REFUSED = [{"type": "message", "content": [{"type": "refusal", "refusal": "I won't"}]}]

ANSWERS: dict[str, tuple[str, list[Answer], list[str]]] = {
    "a refusal": (
        "openai",
        [events(delta(refusal="I "), delta(refusal="won't"), delta("stop"))],
        ["I won't | I won't []", "stop 0 0"],
    ),
    "a refusal as an item": (
        "openai-responses",
        [
            events(
                {"type": "response.refusal.delta", "delta": "I "},
                {"type": "response.refusal.delta", "delta": "won't"},
                {"type": "response.completed", "response": {"output": REFUSED}},
            )
        ],
        ["I won't | I won't []", "stop 0 0"],
    ),
    "two calls of one index": (
        "openai",
        [
            events(
                delta(tool_calls=[call(FIRST, index=0, id="1", name="Notes__add")]),
                delta(tool_calls=[call(SECOND, index=0, id="2", name="Notes__add")]),
                delta("tool_calls"),
            ),
            CHAT_END,
        ],
        [f"done{BOTH} | done [3, 7]", "stop 0 0"],
    ),
    "pieces of calls without an index": (
        "openai",
        [
            events(
                delta(tool_calls=[call('{"a": 1,', id="1", name="Notes__add")]),
                delta(tool_calls=[call('"b": 2}')]),
                delta(tool_calls=[call('{"a": 3,', id="2", name="Notes__add"), call('"b": 4}')]),
                delta("tool_calls"),
            ),
            CHAT_END,
        ],
        [f"done{BOTH} | done [3, 7]", "stop 0 0"],
    ),
    "an id for each piece": (
        "openai",
        [
            events(
                delta(tool_calls=[call('{"a": 1,', index=0, id="1", name="Notes__add")]),
                delta(tool_calls=[call('"b": 2}', index=0, id="2")]),
                delta("tool_calls"),
            ),
            CHAT_END,
        ],
        ['done {"a": 1, "b": 2} | done [3]', "stop 0 0"],
    ),
    "two ends": (
        "openai",
        [
            events(
                delta(tool_calls=[call(FIRST, index=0, id="1", name="Notes__add")]),
                delta("tool_calls"),
                delta("tool_calls"),
            ),
            CHAT_END,
        ],
        ['done {"a": 1, "b": 2} | done [3]', "stop 0 0"],
    ),
    "two answers": (
        "openai",
        [
            events(
                delta(index=1, content="x"), delta(content="y"), delta("stop", 1, content="x"), delta("stop")
            )
        ],
        ["y | y []", "stop 0 0"],
    ),
    "two candidates": (
        "google",
        [
            events(
                {"candidates": [{"index": 1, "content": {"parts": [{"text": "x"}]}}]},
                {"candidates": [{"index": 0, "content": {"parts": [{"text": "y"}]}, "finishReason": "STOP"}]},
            )
        ],
        ["y | y []", "stop 0 0"],
    ),
    "forbidden words": (
        "google",
        [events({"candidates": [{"finishReason": "SPII"}]})],
        [" |  []", "content_filter 0 0"],
    ),
    "tokens told at the end": (
        "anthropic",
        [message(text_block(0, "Hi"), input_tokens=70, cache_read_input_tokens=3)],
        ["Hi | Hi []", "stop 73 5"],
    ),
    "text in the beginning of a block": (
        "anthropic",
        [message(block(0, {"type": "text", "text": "H"}, {"type": "text_delta", "text": "i"}))],
        ["Hi | Hi []", "stop 0 5"],
    ),
    "a call that does not end": (
        "anthropic",
        [
            message(block(0, USE, *pieces('{"a": 1,', ' "b": 2}'), ends=False), stop="tool_use"),
            message(text_block(0, "done")),
        ],
        ['done {"a": 1, "b": 2} | done [3]', "stop 0 10"],
    ),
    "a full context": (
        "anthropic",
        [message(text_block(0, "Hi"), stop="model_context_window_exceeded")],
        ["Hi | Hi []", "length 0 5"],
    ),
}


@pytest.mark.parametrize("odd", ANSWERS)
def test_it_means_what_it_says(script: Script, run: Run, odd: str) -> None:
    wire, answers, expected = ANSWERS[odd]
    script.answer(*answers)
    outcome = run(PROGRAM, connections=_at(script, wire))
    assert outcome.lines == expected, outcome.err


ECHOES: dict[str, tuple[str, Answer, Answer, Json]] = {
    "a call that is no JSON": (
        "anthropic",
        message(
            THOUGHT, block(1, {"type": "text", "text": ""}), block(2, USE, *pieces("{")), stop="tool_use"
        ),
        message(text_block(0, "done")),
        [{"type": "thinking", "thinking": "hm", "signature": "S"}, USE],
    ),
    "what the server's own tool was asked": (
        "anthropic",
        message(
            block(0, {**SEARCH, "input": {}}, *pieces('{"q":', '"x"}')),
            block(1, USE, *pieces(FIRST)),
            stop="tool_use",
        ),
        message(text_block(0, "done")),
        [
            SEARCH,
            {**USE, "input": {"a": 1, "b": 2}},
        ],
    ),
    "a turn that the server has paused": (
        "anthropic",
        message(block(0, SEARCH), stop="pause_turn"),
        message(text_block(0, "done")),
        [SEARCH],
    ),
    "code that the server ran": (
        "google",
        events(
            {
                "candidates": [
                    {
                        "content": {
                            "parts": [
                                {"executableCode": {"code": "1"}},
                                {"functionCall": {"name": "Notes__add", "args": {"a": 1, "b": 2}}},
                            ]
                        },
                        "finishReason": "STOP",
                    }
                ]
            }
        ),
        GEMINI_END,
        [
            {"executableCode": {"code": "1"}},
            {"functionCall": {"name": "Notes__add", "args": {"a": 1, "b": 2}}},
        ],
    ),
}


@pytest.mark.parametrize("odd", ECHOES)
def test_it_goes_back_as_its_server_takes_it(script: Script, run: Run, odd: str) -> None:
    wire, first, last, expected = ECHOES[odd]
    script.answer(first, last)
    outcome = run(PROGRAM, connections=_at(script, wire))
    assert outcome.out.startswith("done"), outcome.err
    body = script.seen[1].body
    returned = body["messages"][1]["content"] if wire == "anthropic" else body["contents"][1]["parts"]
    assert returned == expected


NO_ANSWERS = {
    "openai-responses": ({"status": "queued", "output": []}, "the response is queued"),
    "google": (
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed: print(1)"}]},
        "Malformed: print(1)",
    ),
}


@pytest.mark.parametrize("wire", NO_ANSWERS)
def test_what_is_no_answer_is_not_an_empty_one(script: Script, run: Run, wire: str) -> None:
    answer, why = NO_ANSWERS[wire]
    script.answer(answer)
    asked = 'fn main() { show(Assistant.execute("x").err().unwrap()); }'
    outcome = run(PROGRAM[: PROGRAM.index("fn main")] + asked, connections=_at(script, wire))
    assert "InvalidReply" in outcome.out and why in outcome.out, (outcome.out, outcome.err)


OVERLOADED: dict[str, Any] = {
    "openai": {"error": {"message": "busy", "code": 502}},
    "openai-responses": {"type": "error", "code": "server_error", "message": "busy"},
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    "google": {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}},
}


@pytest.mark.parametrize("wire", OVERLOADED)
def test_a_failure_in_an_answer_is_tried_again_as_its_status_would_be(
    script: Script, run: Run, wire: str
) -> None:
    """Before anything of the answer was given: some servers begin to answer before they know."""
    script.answer(events(OVERLOADED[wire]))
    patient = {"max_attempts": 2, "initial_delay_ms": 1}
    asked = 'fn main() { show(Assistant.stream("x").err().unwrap()); }'
    outcome = run(PROGRAM[: PROGRAM.index("fn main")] + asked, connections=_at(script, wire, retry=patient))
    assert "ProviderError" in outcome.out and "busy" in outcome.out, (outcome.out, outcome.err)
    assert len(script.seen) == 2


def test_an_error_in_a_list_is_told_in_its_words(script: Script, run: Run) -> None:
    script.answer(Answer([{"error": {"code": 400, "message": "API key not valid"}}], 400))
    asked = 'fn main() { println(Assistant.execute("x").err().unwrap().message); }'
    outcome = run(PROGRAM[: PROGRAM.index("fn main")] + asked, connections=_at(script, "google"))
    assert outcome.lines == ["`openai` answered 400: API key not valid"]


def _at(script: Script, wire: str, **more: Json) -> dict[str, Json]:
    return {"openai": {"provider": wire, "base_url": script.url, **more}}

"""Where a streamed answer ends: with the last event of its wire, whatever becomes of the connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any

import pytest

from concerto.json_data import Json
from concerto.runtime.io.bodies import lines
from concerto.runtime.llm import models
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script

Run = Callable[..., Outcome]

PROGRAM = """
agent Assistant { provider: openai, model: "m", timeout: 60, retry_policy: { max_attempts: 1 } }
fn main() {
    for _ in 0..2 {
        for chunk in Assistant.stream("Hello").unwrap() {
            print(chunk.text);
            if let Some(response) = chunk.response { println(" ${response.tokens_in}"); }
        }
    }
}
"""
CHAT: list[Json] = [
    {"choices": [{"delta": {"content": "Hello"}}]},
    {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
]
ENDED: dict[str, list[Json]] = {
    "openai": [*CHAT, "[DONE]"],
    "openai-responses": [
        {"type": "response.output_text.delta", "delta": "Hello"},
        {
            "type": "response.completed",
            "response": {
                "status": "completed",
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}],
                "usage": {"input_tokens": 7, "output_tokens": 2},
            },
        },
    ],
    "anthropic": [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 7}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ],
    "ollama": [
        {"message": {"content": "Hello"}, "done": False},
        {"message": {"content": ""}, "done": True, "prompt_eval_count": 7, "eval_count": 2},
    ],
}
WHOLE: dict[str, list[Json]] = {
    "openai": CHAT,
    "google": [
        {
            "candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 2},
        }
    ],
}
"""Streams whose wire, or server, has no last event."""


def written(wire: str, events: list[Json]) -> str:
    texts = [each if isinstance(each, str) else json.dumps(each) for each in events]
    return "".join([f"{text}\n" if wire == "ollama" else f"data: {text}\n\n" for text in texts])


def at(script: Script, wire: str) -> dict[str, Json]:
    return {"openai": {"provider": wire, "base_url": script.url}}


@pytest.mark.parametrize("wire", ENDED)
@pytest.mark.parametrize("after", [{"endless": True}, {"cut": True}, {}], ids=["open", "lost", "ended"])
def test_the_last_event_ends_a_stream(script: Script, run: Run, wire: str, after: dict[str, Any]) -> None:
    text = written(wire, ENDED[wire])
    # A body that is cut ends in its middle.
    script.answer(Answer(text + " " * len(text) if "cut" in after else text, **after))
    began = monotonic()
    outcome = run(PROGRAM, connections=at(script, wire))
    assert outcome.err == ""
    assert outcome.lines == ["Hello 7"] * 2
    assert monotonic() - began < 20
    assert script.all_connections == (2 if after else 1)
    assert script.all_closed()


@pytest.mark.parametrize("wire", WHOLE)
def test_a_whole_answer_is_not_lost_with_the_end_of_its_stream(
    script: Script, run: Run, monkeypatch: pytest.MonkeyPatch, wire: str
) -> None:
    monkeypatch.setattr(models, "_WHOLE_TIMEOUT", 0.2)
    script.answer(Answer(written(wire, WHOLE[wire]), endless=True))
    outcome = run(PROGRAM, connections=at(script, wire))
    assert outcome.err == ""
    assert outcome.lines == ["Hello 7"] * 2


@pytest.mark.parametrize("wire", ENDED)
@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_ends_of_lines(script: Script, run: Run, wire: str, end: str) -> None:
    script.answer(Answer(written(wire, ENDED[wire]).replace("\n", end)))
    outcome = run(PROGRAM, connections=at(script, wire))
    assert outcome.err == ""
    assert outcome.lines == ["Hello 7"] * 2


@pytest.mark.parametrize("size", range(1, 8))
def test_lines_whose_ends_arrive_in_halves(size: int) -> None:
    content = b"a\nb\r\nc\rd\r\r\n\n\r\r\ne\xc2\x85f"

    async def pieces() -> AsyncIterator[bytes]:
        for begun in range(0, len(content), size):
            yield content[begun : begun + size]
            yield b""

    async def found() -> bytes:
        return b"\n".join([each async for each in lines(pieces(), 1000)])

    assert asyncio.run(found()).split(b"\n") == [b"a", b"b", b"c", b"d", b"", b"", b"", b"", b"e\xc2\x85f"]

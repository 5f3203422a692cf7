"""What the campaign has found, mended since."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import httpx2
import pytest

from concerto.diagnostics import Problems
from concerto.ir.module import Function, Module
from concerto.ir.verifier import verify
from concerto.runtime.requests import Reply
from concerto.vm.host import Host
from concerto.vm.machine import Machine
from tests.fuzz.replies import called, served
from tests.vm.hosts import TIERS, Recorder, outcome


def reply_to(wire: str, body: str, streamed: bool = True, kind: str = "") -> Reply | None:
    """The reply that is read from an answer's body, None if that is an AgentError."""
    with served(lambda request: httpx2.Response(200, headers={"content-type": kind}, content=body.encode())):
        return asyncio.run(called(wire, streamed))


def events(*data: Any) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in data)


def anthropic_stream(*blocks: Any) -> str:
    starts = [
        {"type": "content_block_start", "index": index, "content_block": block} for index, block in blocks
    ]
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    return events({"type": "message_start", "message": {}}, *starts, delta, {"type": "message_stop"})


def test_blocks_with_indices_that_have_no_order() -> None:
    blocks = [(0, {"type": "text", "text": "a"}), ("one", {"type": "text", "text": "b"})]
    assert reply_to("anthropic", anthropic_stream(*blocks)) is None


def test_a_block_that_is_a_text() -> None:
    assert reply_to("anthropic", anthropic_stream((0, " "))) is None


def test_the_charset_of_a_header_is_not_that_of_the_events() -> None:
    chunk = {"choices": [{"delta": {"content": "é"}, "finish_reason": "stop"}]}
    reply = reply_to("openai", events(chunk), kind="text/event-stream; charset=utf-16")
    assert reply is not None and reply.message.text == json.loads('"\\u00e9"')


@pytest.mark.parametrize("finish", [True, ["STOP"], {"x": 1}, 3])
def test_a_reason_to_finish_that_is_no_text(finish: Any) -> None:
    candidate = {"content": {"parts": [{"text": "a"}]}, "finishReason": finish}
    reply = reply_to("google", json.dumps({"candidates": [candidate]}), streamed=False)
    assert reply is not None and reply.stop_reason == "stop"


def ending_of(constants: list[Any], *code: tuple[Any, ...]) -> set[tuple[Any, ...]]:
    """How a `main` of that code ends, once for each way in which it does on the tiers."""
    module = Module("main", "main.conc")
    module.constants = constants
    module.functions = [Function("main", [], 0, 1, list(code), 0, [])]
    module.entry = 0
    assert verify(module, Problems())
    return {outcome(Machine(module, cast(Host, Recorder()), tier=tier), 0, []) for tier in TIERS}


def test_a_number_that_is_called_is_no_warning_of_python() -> None:
    assert ending_of([1], ("LOAD_CONST", 0), ("CALL_VALUE", 0), ("RETURN",)) == {
        ("error", "Int cannot be called", "TypeError")
    }


def test_an_index_that_is_no_number_is_not_out_of_bounds() -> None:
    code = [("LOAD_NIL",), ("BUILD_ARRAY", 1), ("LOAD_CONST", 0), ("INDEX_ARRAY",), ("RETURN",)]
    assert ending_of(["x"], *code) == {("error", "an operation does not fit its value", "TypeError")}

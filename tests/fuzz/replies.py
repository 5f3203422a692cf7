"""Spoilt answers of model servers, on every wire, at once and streamed: what becomes of them is an answer or
a typed error, and an answer can be sent back with the next request.

`recorded.json` holds what a real server said: for each wire a turn with two calls and one with text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any, TypeAlias
from unittest.mock import patch

import httpx2

from concerto.compiler import compile_source
from concerto.effects.kinds import ModelCall
from concerto.manifest.models import Manifest
from concerto.program import Program, Runtime
from concerto.runtime.concurrency.waiting import LoopWaiting
from concerto.runtime.llm import http
from concerto.runtime.llm.clients import Client
from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.models import Models
from concerto.runtime.llm.providers import StreamPart, find_provider
from concerto.runtime.llm.proxied import ProxiedClient
from concerto.runtime.llm.requests import Message, Reply, Request, ToolCallRequest
from concerto.vm.values import ErrorValue, Raised
from tests.fuzz.mutating import spoilt_bytes, spoilt_json
from tests.properties.checks import Broken
from tests.runtime.running import AGENTS

Answerer: TypeAlias = Callable[[httpx2.Request], httpx2.Response]

_RECORDED: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("recorded.json").read_text(encoding="utf-8")
)
_FRAMES = (": keep-alive", "", "event: ping", "data:", "data: ", "data: [DONE]", "data: {}", "data: []",
           "data: 1", "data: null", "id: 1", "retry: 0", "\x85", 'data: {"error": {"message": "no"}}',
           '{"error": "no"}', 'data: {"type": "error"}', "[DONE]")  # fmt: skip
_HEADERS = (
    {"content-encoding": "gzip"}, {"content-encoding": "deflate"},
    {"content-type": "text/html; charset=utf-16"},
    {"content-type": "application/json; charset=none"}, {"retry-after": "soon"}, {"retry-after-ms": "nan"},
    {"retry-after": "-1"}, {"retry-after": "9" * 400}, {"content-length": "0"},
    {"transfer-encoding": "chunked"},
)  # fmt: skip
_SECONDS = 40.0

PROGRAM = (
    AGENTS
    + """
fn said(error: AgentError) { println("error ${error.kind}: ${error.message}"); }
fn execute() {
    match Assistant.execute("go") {
        Ok(r) => println("${r.text} ${r.tool_calls} ${r.stop_reason} ${r.messages} ${r.tokens_in}"),
        Err(e) => said(e),
    }
}
fn stream() {
    match Assistant.stream("go") {
        Ok(chunks) => {
            try {
                for chunk in chunks { println("${chunk.text} ${chunk.tool_calls} ${chunk.done}"); }
            } catch AgentError(e) { said(e); }
        },
        Err(e) => said(e),
    }
}
fn read() {
    match Reader.execute_with_schema<Person>("go") { Ok(p) => println(p.name), Err(e) => said(e) }
}
"""
)


def decoding_gives_replies_or_errors(random: Random) -> None:
    """One spoilt answer, read and given back to its wire."""
    wire, streamed = random.choice(list(_RECORDED)), random.random() < 0.6
    answerer = _answers(wire, random)
    said: list[bytes] = []
    try:
        with served(lambda request: answerer(request, said)):
            reply = asyncio.run(called(wire, streamed))
        if reply is not None:
            _is_whole(reply)
            messages = (Message("user", "go"), reply.message, *_results(reply))
            json.dumps(find_provider(wire).encode(Request("m", messages)).body)
    except Exception as crash:
        raise Broken(f"{wire}: {type(crash).__name__}: {crash}", _shown(said)) from crash


def loops_end_in_answers_or_errors(random: Random) -> None:
    """A whole program that asks, is told to call tools and asks again."""
    wire, asking = random.choice(list(_RECORDED)), random.choice(("execute", "stream", "read"))
    answerer = _answers(wire, random)
    said: list[bytes] = []
    out, errors = StringIO(), StringIO()
    with served(lambda request: answerer(request, said)):
        runtime = Runtime(
            _program(asking), manifest=_manifest(wire), environment={}, quiet=True, output=out, errors=errors,
            timeout=_SECONDS,
        )  # fmt: skip
        result = runtime.run()
    if result.status != 0 or errors.getvalue() or not out.getvalue():
        raise Broken(f"{wire} {asking}: {result} {errors.getvalue()} {out.getvalue()}", _shown(said))


async def called(wire: str, streamed: bool) -> Reply | None:
    """The reply to one request, None for an AgentError."""
    connection = Connection("openai", find_provider(wire).name, "http://model.test")
    parts: list[StreamPart] = []

    async def sink(arrived: Sequence[StreamPart]) -> None:
        parts.extend(arrived)

    models = Models({}, {}, LoopWaiting())
    request = Request("m", (Message("user", "go"),), stream=streamed)
    try:
        return await models.call(_effect(request, sink if streamed else None), connection)
    except Raised as raised:
        assert isinstance(raised.value, ErrorValue) and raised.value.type_name == "AgentError"
        return None
    finally:
        assert all(type(part) is str or type(part) is ToolCallRequest for part in parts)
        await models.close()


def _effect(request: Request, sink: Any) -> ModelCall:
    return ModelCall(agent="Assistant", connection="openai", request=request, sink=sink)


def _is_whole(reply: Reply) -> None:
    """What a reply holds is what its types say."""
    texts = [reply.message.text, reply.stop_reason, reply.model]
    for call in reply.message.calls:
        texts += [call.id, call.name, call.arguments]
    assert all(type(text) is str for text in texts), reply
    assert type(reply.tokens_in) is int and type(reply.tokens_out) is int, reply


def _results(reply: Reply) -> list[Message]:
    return [Message("tool", "1", call_id=call.id, name=call.name) for call in reply.message.calls]


# Answers


def _answers(wire: str, random: Random) -> Callable[[httpx2.Request, list[bytes]], httpx2.Response]:
    """What the server says: turns of calls, then of text, most of them spoilt. `said` gets them."""
    recorded = _RECORDED[wire]
    left = random.choice((0, 0, 1, 2))

    def answer(request: httpx2.Request, said: list[bytes]) -> httpx2.Response:
        nonlocal left
        turn = "calls" if left > 0 else "answer"
        left -= 1
        streams = b'"stream":true' in request.content or "streamGenerateContent" in str(request.url)
        text = recorded[turn + ("-stream" if streams else "")]
        if random.random() < 0.2:
            text = recorded[random.choice(list(recorded))]
        data = _spoilt(text, random) if random.random() < 0.9 else text.encode()
        said.append(data)
        status = random.choice((200,) * 12 + (201, 204, 302, 400, 401, 429, 500, 529, 999))
        headers = random.choice(_HEADERS) if random.random() < 0.1 else {}
        return httpx2.Response(status, headers=headers, stream=_Chunks(data, random))

    return answer


def _spoilt(text: str, random: Random) -> bytes:
    """An answer with bytes, JSON or lines changed."""
    lines = text.split("\n")
    if random.random() < 0.25:
        return spoilt_bytes(text.encode(), random)
    for _ in range(random.choice((1, 1, 2, 4))):
        place = random.randrange(len(lines))
        if random.random() < 0.6:
            lines[place] = _with_spoilt_json(lines[place], random)
            continue
        match random.randrange(5):
            case 0:
                lines.insert(place, lines[random.randrange(len(lines))])
            case 1 if len(lines) > 1:
                del lines[place]
            case 2:
                lines.insert(place, random.choice(_FRAMES))
            case 3:
                other = random.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                del lines[place + 1 :]
    return random.choice(("\n", "\n", "\n", "\r\n", "\r")).join(lines).encode("utf-8", "surrogatepass")


def _with_spoilt_json(line: str, random: Random) -> str:
    label, brace, rest = line.partition("{")
    try:
        value = json.loads(brace + rest)
    except ValueError:
        return line
    return label + json.dumps(spoilt_json(value, random), ensure_ascii=random.random() < 0.5)


class _Chunks(httpx2.AsyncByteStream):
    """Content in pieces of any length; now and then the connection breaks."""

    def __init__(self, data: bytes, random: Random) -> None:
        self._data = data
        self._random = random

    async def __aiter__(self) -> AsyncIterator[bytes]:
        longest = self._random.choice((1, 7, 100, 10**6)) if len(self._data) < 3000 else 1000
        while self._data:
            size = self._random.randint(1, longest)
            piece, self._data = self._data[:size], self._data[size:]
            yield piece
            if self._random.random() < 0.001:
                raise httpx2.ReadError("connection reset")


@contextmanager
def served(answerer: Answerer) -> Iterator[None]:
    """Requests to model servers are answered here."""

    def client(*_: Any) -> Client:
        return ProxiedClient(False, httpx2.MockTransport(answerer))

    with patch.object(http, "_client", client):
        yield


def _shown(said: list[bytes]) -> str:
    return "\n---\n".join([data.decode("utf-8", "backslashreplace") for data in said])


@cache
def _program(asking: str) -> Program:
    return compile_source(f"{PROGRAM}\nfn main() {{ {asking}(); }}\n")


@cache
def _manifest(wire: str) -> Manifest:
    connection = {"provider": wire, "base_url": "http://model.test", "retry": {"max_attempts": 1}}
    return Manifest.model_validate({"connections": {"openai": connection}})

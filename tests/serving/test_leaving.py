"""Clients that leave, and a server that is told to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.types import Message
from websockets.sync.client import connect

from concerto.serving import sse
from tests.runtime.servers import Script
from tests.serving.servers import answered, project, served


def until_asked(model: Script, count: int) -> None:
    deadline = time.monotonic() + 120
    while len(model.seen) < count:
        assert time.monotonic() < deadline, "the model was not asked"
        time.sleep(0.01)


@pytest.mark.parametrize("way", ["plain", "stream", "chat", "agui", "socket"])
def test_the_work_for_a_client_that_leaves_ends(tmp_path: Path, way: str) -> None:
    """A server that still worked for it would have to break that off, and say so."""
    with Script() as model:
        model.answer(answered)
        with served(project(tmp_path, model.url)) as server:
            body: dict[str, Any] = {"model": "Plain", "input": "wait 20"}
            path = "/v1/responses"
            said = [{"id": "1", "role": "user", "content": "wait 20"}]
            if way == "stream":
                body["stream"] = True
            elif way == "chat":
                path, body = "/v1/chat/completions", {"model": "Plain", "messages": said[0:1], "stream": True}
                del body["messages"][0]["id"]
            elif way == "agui":
                path, body = "/agents/Plain/agui", {"threadId": "t", "runId": "r", "messages": said}
            if way == "socket":
                with connect(server.url.replace("http", "ws") + path) as client:
                    client.send(json.dumps({"type": "response.create", **body}))
                    until_asked(model, 1)
            else:
                content = json.dumps(body)
                place = server.url.removeprefix("http://")
                head = f"POST {path} HTTP/1.1\r\nhost: {place}\r\ncontent-length: {len(content)}"
                with socket.create_connection(
                    (place.split(":")[0], int(place.split(":")[1])), timeout=60
                ) as client:
                    client.sendall(f"{head}\r\n\r\n{content}".encode())
                    until_asked(model, 1)
            assert server.stop() == (0, "")


def test_requests_under_way_come_to_their_end(tmp_path: Path, model: Script) -> None:
    with served(project(tmp_path, model.url)) as server:
        answers: list[httpx2.Response] = []

        def ask() -> None:
            body = {"model": "Plain", "input": "wait 1.5"}
            answers.append(httpx2.post(f"{server.url}/v1/responses", json=body, timeout=60))

        before = len(model.seen)
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        until_asked(model, before + 1)
        status, said = server.stop(signal.SIGTERM)
        asking.join(120)
        assert (status, said) == (0, "")
        assert answers[0].json()["output"][0]["content"][0]["text"] == "waited"


def test_requests_that_do_not_come_to_their_end_are_one_line(tmp_path: Path, model: Script) -> None:
    soon = "from concerto.serving import server; server._DRAIN_SECONDS = 0.2"
    with served(project(tmp_path, model.url), before=soon) as server, httpx2.Client(timeout=60) as client:

        def ask(stream: bool) -> None:
            body = {"model": "Plain", "input": "wait 20", "stream": stream}
            with suppress(httpx2.HTTPError):
                client.post(f"{server.url}/v1/responses", json=body)

        before = len(model.seen)
        asking = [threading.Thread(target=ask, args=(stream,), daemon=True) for stream in (False, True)]
        for each in asking:
            each.start()
        until_asked(model, before + 2)
        status, said = server.stop(signal.SIGTERM)
        for each in asking:
            each.join(120)
    assert status == 0
    assert len(said.splitlines()) == 1 and "Cancel 2 running task(s)" in said, said


def test_a_server_that_says_where_it_is_can_be_stopped(tmp_path: Path) -> None:
    folder = project(tmp_path, "http://127.0.0.1:9")
    for _ in range(2):
        with served(folder) as server:
            assert server.stop(signal.SIGTERM) == (0, "")


def test_a_stream_is_never_quiet_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_QUIET_SECONDS", 0.001)

    async def bodies() -> list[bytes]:
        heard, sent = asyncio.Event(), []

        async def events() -> AsyncIterator[str]:
            yield "a"
            await heard.wait()
            yield "b"

        async def send(message: Message) -> None:
            sent.append(message.get("body", b"head"))
            if sent[-1].startswith(b":"):
                heard.set()

        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError("the client stays")

        await sse.EventStream(events())({"type": "http"}, receive, send)
        return sent

    sent = asyncio.run(bodies())
    assert sent[:2] == [b"head", b"a"]
    assert sent[-2:] == [b"b", b""]
    assert set(sent[2:-2]) == {b": still here\n\n"}

"""Heads of requests that never end, or never come: their connections do."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvicorn

from concerto.serving import server as serving_server
from concerto.serving.server import BoundedHeads, listen


async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
    length = 0
    while scope["type"] == "http":
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"length", str(length).encode())]})
    await send({"type": "http.response.body", "body": b""})


def answered(*sent: bytes) -> bytes:
    """What a server answers to bytes, until it closes the connection."""

    async def talk() -> bytes:
        listening = listen("127.0.0.1", 0)
        port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, http=BoundedHeads, lifespan="off", log_level="error"))
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))

        def ask() -> bytes:
            with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
                heard = b""
                try:
                    for piece in sent:
                        client.sendall(piece)
                    while some := client.recv(65536):
                        heard += some
                except ConnectionError:
                    pass
                return heard

        heard = await asyncio.to_thread(ask)
        server.should_exit = True
        await serving
        return heard

    return asyncio.run(talk())


START = b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
CHUNKED = START + b"transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        [START, b"a: ", *[b"x" * 2**20] * 20],
        [START, *[b"a: %s\r\n" % (b"x" * 1000)] * 20_000],
        [b"GET /", *[b"x" * 2**20] * 20],
        [CHUNKED, *[b"a: %s\r\n" % (b"x" * 1000)] * 20_000],
    ],
    ids=["one field", "many fields", "the address", "behind the body"],
)
def test_one_that_is_too_long(sent: list[bytes]) -> None:
    assert answered(*sent)[:12] in (b"HTTP/1.1 431", b"")  # What is still coming may lose the answer.


@pytest.mark.parametrize("sent", [b"", b"GET / HT", START])
def test_one_that_does_not_come(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(serving_server, "_HEAD_SECONDS", 0.2)
    assert answered(sent).startswith(b"HTTP/1.1 408")


def test_a_long_body_is_none() -> None:
    head = START + b"content-length: 3000000\r\n\r\n"
    assert b"length: 3000000\r\n" in answered(head, *[b"x" * 1_000_000] * 3)
    chunks = [b"%x\r\n%s\r\n" % (1_000_000, b"x" * 1_000_000)] * 3
    head = START + b"transfer-encoding: chunked\r\n\r\n"
    assert b"length: 3000000\r\n" in answered(head, *chunks, b"0\r\n\r\n")
    heads_behind_each_other = (b"GET / HTTP/1.1\r\nhost: x\r\na: " + b"x" * 1000 + b"\r\n\r\n") * 200
    assert answered(heads_behind_each_other + START + b"\r\n").count(b"HTTP/1.1 200") == 201

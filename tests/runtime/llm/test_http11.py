"""Answers of servers as bytes: where each ends, whether its connection is kept, and what is no answer."""

from __future__ import annotations

import asyncio
import gzip
import socket
import zlib

import pytest

from concerto.runtime.llm.http11 import HttpConnection
from concerto.runtime.llm.sockets import HttpFailure, SocketStream

Told = tuple[int, bytes, bool]


REQUEST = b"POST /there HTTP/1.1\r\nhost: here\r\ncontent-length: 5\r\n\r\nhello"


async def asked(answer: bytes, size: int, method: str, *, reads: bool, closes: bool) -> Told:
    """The status and content of an answer that comes in pieces, and whether it keeps its connection."""
    ours, theirs = socket.socketpair()
    _, stream = await asyncio.get_running_loop().create_connection(SocketStream, sock=ours)
    reader, writer = await asyncio.open_connection(sock=theirs)

    async def serve() -> None:
        request = REQUEST.replace(b"POST", method.encode())
        assert await reader.readexactly(len(request)) == request
        for begun in range(0, len(answer), size):
            writer.write(answer[begun : begun + size])
            await asyncio.sleep(0)
        if closes:
            writer.close()

    connection = HttpConnection(stream)
    serving = asyncio.create_task(serve())
    try:
        async with asyncio.timeout(60):
            fields = [(b"host", b"here"), (b"content-length", b"5")]
            found = await connection.ask(method, b"/there", fields, b"hello")
            content = b"".join([piece async for piece in found.aiter_bytes()]) if reads else b""
            await found.aclose()
        return found.status_code, content, connection.is_usable
    finally:
        await serving
        connection.close()
        writer.close()


def ask(
    answer: bytes, size: int = 10_000, method: str = "POST", *, reads: bool = True, closes: bool = False
) -> Told:
    return asyncio.run(asked(answer, size, method, reads=reads, closes=closes))


def sized(content: bytes, more: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%s\r\n%s" % (len(content), more, content)


CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'5\r\nwhole\r\n3;name="v"\r\n\r\nb\r\n00a \r\n0123456789\r\n0\r\n'
)
MEMBERS = (
    gzip.compress(b"first", mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(b"second" * 9, mtime=0)
)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 10_000])
@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (sized(b"whole"), b"whole"),
        (sized(b""), b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103\r\nlink: x\r\n\r\n" + sized(b"late"), b"late"),
        (b"HTTP/1.1 200\nContent-Length:\t3 \nX-Other: a\n\nabc", b"abc"),
        (CHUNKED + b"\r\n", b"whole\r\nb0123456789"),
        (CHUNKED + b"digest: x\r\nmore: y\r\n\r\n", b"whole\r\nb0123456789"),
        (sized(gzip.compress(b"packed" * 9, mtime=0), b"content-encoding: gzip\r\n"), b"packed" * 9),
        (sized(zlib.compress(b"packed" * 9), b"Content-Encoding: Deflate\r\n"), b"packed" * 9),
        (sized(zlib.compress(b"packed" * 9)[2:-4], b"content-encoding: deflate\r\n"), b"packed" * 9),
        (sized(MEMBERS, b"content-encoding: gzip\r\n"), b"first" + b"second" * 9),
        (sized(MEMBERS + b"\0\0rest", b"content-encoding: gzip\r\n"), b"first" + b"second" * 9),
        (sized(b"as it is", b"content-encoding: br\r\n"), b"as it is"),
    ],
)
def test_answers_end_where_they_say(answer: bytes, content: bytes, size: int) -> None:
    assert ask(answer, size) == (200, content, True)


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (sized(b"whole", b"Connection: keep-alive, Close\r\n"), b"whole"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab", b"ab"),
        (sized(b"whole") + b"HTTP/1.1", b"whole"),
        (CHUNKED + b"\r\nmore", b"whole\r\nb0123456789"),
        (b"HTTP/1.1 200 OK\r\n\r\nall that comes", b"all that comes"),
    ],
)
def test_connections_that_are_not_kept(answer: bytes, content: bytes) -> None:
    assert ask(answer, closes=True) == (200, content, False)


def test_answers_without_content() -> None:
    assert ask(b"HTTP/1.1 204 None\r\n\r\n") == (204, b"", True)
    assert ask(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", method="HEAD") == (200, b"", False)


def test_an_answer_that_is_not_read_closes_its_connection() -> None:
    assert ask(sized(b"whole"), reads=False) == (200, b"", False)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\ncontent-",
        b"\x16\x03\x01 not HTTP",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 101 Now\r\nupgrade: websocket\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\na name: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x:   y\r\n" * 60 + b"no colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000,
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nwhole",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nwhole",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhol",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        CHUNKED,
        CHUNKED.replace(b"whole\r\n", b"whole.."),
        CHUNKED.replace(b"whole", b"whol") + b"\r\n",
        CHUNKED.replace(b"00a ", b"g"),
        CHUNKED.replace(b"00a \r\n", b"9" * 200_000),
        sized(b"not packed", b"content-encoding: gzip\r\n"),
    ],
)
def test_what_is_no_answer(answer: bytes) -> None:
    with pytest.raises(HttpFailure):
        ask(answer, closes=True)


@pytest.mark.parametrize(
    ("method", "target", "value"),
    [
        ("GET / HTTP/1.1\r\nx: y\r\n\r\nGET", b"/", b"v"),
        ("", b"/", b"v"),
        ("GET", b"/ HTTP/1.1\r\nx: y", b"v"),
        ("GET", b"/ /", b"v"),
        ("GET", b"/", b"v\r\nx: y"),
        ("GET", b"/", b"v\rx: y"),
        ("GET", b"/", b"v\nx: y"),
    ],
)
def test_nothing_of_a_request_begins_another(method: str, target: bytes, value: bytes) -> None:
    async def ask_so() -> bytes:
        ours, theirs = socket.socketpair()
        _, stream = await asyncio.get_running_loop().create_connection(SocketStream, sock=ours)
        connection = HttpConnection(stream)
        reader, writer = await asyncio.open_connection(sock=theirs)
        with pytest.raises(HttpFailure):
            await connection.ask(method, target, [(b"name", value)], b"")
        sent = await reader.read()
        writer.close()
        return sent

    assert asyncio.run(ask_so()) == b""

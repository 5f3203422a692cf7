"""Connections to model servers, kept and made again."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.http import ModelServer
from concerto.runtime.llm.providers import WireCall
from concerto.runtime.llm.sockets import HttpFailure, SocketStream, connect
from concerto.vm.values import ErrorValue, Raised

CALL = WireCall(path="/x", body={})


def server_at(place: str) -> ModelServer:
    return ModelServer(Connection(name="near", provider="openai", base_url=f"http://{place}"), {})


def reply(number: int) -> bytes:
    body = b'{"n": %d}' % number
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


async def answers_of_a_talker() -> list[int]:
    """What a server that says more after its first answer answers to two requests."""
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await reader.readuntil(b"{}")
        writer.write(reply(len(writers)))
        if len(writers) == 1:
            await asyncio.sleep(0.01)
            writer.write(reply(99))

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    server = server_at(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}")
    first = await server.request(CALL, 10)
    await asyncio.sleep(0.05)
    second = await server.request(CALL, 10)
    await server.close()
    for writer in writers:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    listening.close()
    return [first["n"], second["n"]]


def test_what_comes_unasked_is_no_answer() -> None:
    assert asyncio.run(answers_of_a_talker()) == [1, 2]


def test_other_event_loops() -> None:
    uvloop = pytest.importorskip("uvloop")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(answers_of_a_talker()) == [1, 2]


@pytest.mark.parametrize("place", ["a..b", f"{'a' * 70}.com", "127.0.0.1:-1"])
def test_a_place_that_is_none(place: str) -> None:
    async def ask() -> None:
        await server_at(place).request(CALL, 10)

    with pytest.raises(Raised) as raised:
        asyncio.run(ask())
    error = raised.value.value
    assert isinstance(error, ErrorValue)
    assert error.kind == "ConnectionLost"
    assert error.message.startswith(f"no answer from `near` at http://{place}: ")


async def read_from(content: bytes, *, pause: float = 0) -> list[bytes]:
    """What a connection gives of what a server sends at once, the first piece after a pause."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        stream = await connect("127.0.0.1", listening.sockets[0].getsockname()[1], None)
        await asyncio.sleep(pause)
        pieces = []
        while piece := await stream.read():
            pieces.append(piece)
        stream.close()
    return pieces


def test_what_nobody_reads_is_not_taken_from_the_network() -> None:
    content = bytes(range(256)) * 40_000
    pieces = asyncio.run(read_from(content, pause=0.3))
    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= 128 * 1024


def test_connections_of_several_threads() -> None:
    def read(number: int) -> bool:
        content = bytes([number]) * 3_000_000
        return b"".join(asyncio.run(read_from(content))) == content

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(read, range(16)))


def test_a_reset_is_told_after_what_came_before() -> None:
    async def read() -> bytes:
        ours, theirs = socket.socketpair()
        _, stream = await asyncio.get_running_loop().create_connection(SocketStream, sock=ours)
        theirs.send(b"some")
        await asyncio.sleep(0.05)
        stream.connection_lost(ConnectionResetError(errno.ECONNRESET, "as asyncio has it"))
        with theirs:
            found = await stream.read()
            with pytest.raises(HttpFailure, match=os.strerror(errno.ECONNRESET)):
                await stream.read()
        stream.close()
        return found

    assert asyncio.run(read()) == b"some"


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_what_is_written_too_late_is_said_by_the_read(loop: str) -> None:
    async def ask() -> bytes:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
            stream = await connect("127.0.0.1", listening.sockets[0].getsockname()[1], None)
            await asyncio.sleep(0.1)
            stream.write(b"request")
            with pytest.raises(HttpFailure, match=os.strerror(errno.ECONNRESET)):
                await stream.read()
            stream.close()
            return await reading_while_paused()

    async def reading_while_paused() -> bytes:
        """What had come before a connection was lost that nobody read from."""
        ours, theirs = socket.socketpair()
        _, stream = await asyncio.get_running_loop().create_connection(SocketStream, sock=ours)
        theirs.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                theirs.send(bytes(64 * 1024))
        await asyncio.sleep(0.1)
        theirs.close()
        stream.close()
        await asyncio.sleep(0.05)
        return await stream.read()

    factory = pytest.importorskip("uvloop").new_event_loop if loop == "uvloop" else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        assert len(runner.run(ask())) > 64 * 1024

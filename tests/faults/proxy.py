"""A TCP proxy that spoils what a server says at one byte of a conversation.

It stands between a client and a real server, in a thread of its own. The bytes of all connections since
`arm` count as one conversation.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias
from urllib.parse import urlsplit

_BLOCK = 16
PAUSE = 0.002
"""Seconds of a delay."""


class Act(Enum):
    """What happens instead of bytes."""

    PAUSE = auto()
    SILENCE = auto()
    CLOSE = auto()
    RESET = auto()


Step: TypeAlias = bytes | Act
Spoil: TypeAlias = Callable[[bytes, int], list[Step]]


@dataclass(frozen=True)
class Fault:
    """Of a `kind` in FAULTS, at a byte of what the server says, or of what the client does."""

    kind: str
    at: int
    in_request: bool = False


FAULTS: dict[str, Spoil] = {
    "delay": lambda data, at: [data[:at], Act.PAUSE, data[at:]],
    "close": lambda data, at: [data[:at], Act.CLOSE],
    "reset": lambda data, at: [data[:at], Act.RESET],
    "silence": lambda data, at: [data[:at], Act.SILENCE],
    "flip low bit": lambda data, at: [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]],
    "flip high bit": lambda data, at: [data[:at] + bytes([data[at] ^ 128]) + data[at + 1 :]],
    "drop": lambda data, at: [data[:at] + data[at + 1 :]],
    "duplicate": lambda data, at: [data[:at] + data[max(0, at - _BLOCK) : at] + data[at:]],
    "reorder": lambda data, at: [
        data[:at] + data[at + _BLOCK : at + 2 * _BLOCK] + data[at : at + _BLOCK] + data[at + 2 * _BLOCK :]
    ],
}


class Spoiler:
    """Counts the bytes that pass in a conversation, and lets its fault strike once. `passed` counts those of
    requests under True, those of answers under False."""

    def __init__(self, fault: Fault | None) -> None:
        self._fault = fault
        self.passed = {True: 0, False: 0}
        self.struck = False

    def steps(self, data: bytes, *, in_request: bool) -> list[Step]:
        """What happens instead of passing these bytes on."""
        before, fault = self.passed[in_request], self._fault
        self.passed[in_request] += len(data)
        if fault is None or fault.in_request != in_request or not before <= fault.at < before + len(data):
            return [data]
        self.struck = True
        return FAULTS[fault.kind](data, fault.at - before)


class FaultyProxy:
    """See the module. `said` is what came out towards the client, a list of one text for each connection;
    `spoken` are the pieces that came in, each with whether it is of a request; `open` counts connections."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        self._server = (parts.hostname, parts.port)
        self.arm(None)
        self._loop = asyncio.new_event_loop()
        self._listening: asyncio.Server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0)
        )
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    def arm(self, fault: Fault | None) -> None:
        """A new conversation begins, with this fault in it. No connection may be open."""
        self.spoiler = Spoiler(fault)
        self.said: list[bytearray] = []
        self.spoken: list[tuple[bool, bytes]] = []
        self.open = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        said = bytearray()
        self.said.append(said)
        try:
            inner_reader, inner_writer = await asyncio.open_connection(*self._server)
            ways = [
                asyncio.ensure_future(self._pass_on(reader, inner_writer, bytearray(), in_request=True)),
                asyncio.ensure_future(self._pass_on(inner_reader, writer, said, in_request=False)),
            ]
            _, pending = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in pending:
                way.cancel()
            await asyncio.wait(ways)
            inner_writer.close()
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self.open -= 1

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, said: bytearray, *, in_request: bool
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                self.spoken.append((in_request, data))
                for step in self.spoiler.steps(data, in_request=in_request):
                    match step:
                        case bytes():
                            said += step
                            target.write(step)
                            await target.drain()
                        case Act.PAUSE:
                            await asyncio.sleep(PAUSE)
                        case Act.SILENCE:
                            # Until the client gives up, which ends the other way.
                            await asyncio.get_running_loop().create_future()
                        case Act.CLOSE:
                            return
                        case Act.RESET:
                            close_with_reset(target)
                            return

    def _stop(self) -> None:
        self._listening.close()
        self._loop.stop()

    @contextmanager
    def running(self) -> Iterator[FaultyProxy]:
        self._thread.start()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._stop)
            self._thread.join()
            self._loop.close()


def close_with_reset(target: asyncio.StreamWriter) -> None:
    """Closing, which the caller does next, says RST, not FIN."""
    connection = target.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

"""Sockets of asyncio as HTTP uses them: connections to hosts, whose errors say in words what went wrong."""

from __future__ import annotations

import asyncio
import os
import select
import threading
from socket import gaierror
from ssl import SSLContext, SSLError
from typing import Any, cast

_NEXT_ADDRESS_SECONDS = 0.25
"""After how long the next address of a host is tried beside the one before (RFC 8305)."""


_MOST_UNREAD = 64 * 1024
"""Bytes after which no more are taken from the network until these are read."""


class _Buffer(threading.local):
    """What all connections of a thread's loop read into: each takes out at once what it got."""

    def __init__(self) -> None:
        # Behind TLS asyncio fills its slices.
        self.shared = memoryview(bytearray(_MOST_UNREAD))


_buffer = _Buffer()


class HttpFailure(Exception):
    """There is no answer, or none that can be understood; the text says why."""


class HttpTimeout(HttpFailure):
    """It took too long."""


async def connect(
    host: str, port: int, tls: SSLContext | None, seconds: float | None = None, address: str | None = None
) -> SocketStream:
    """A stream to a host, at this `address` of it if one is given. Raises HttpFailure."""
    if not 0 <= port < 2**16:
        raise HttpFailure(f"{port} is no port")
    place = address or host
    loop = asyncio.get_running_loop()
    # Racing addresses costs something even where there is only one, and only asyncio's own loops can.
    races = not _is_address(place) and isinstance(loop, asyncio.BaseEventLoop)
    more: dict[str, Any] = {"happy_eyeballs_delay": _NEXT_ADDRESS_SECONDS} if races else {}
    if tls is not None:
        more["server_hostname"] = host
    try:
        async with asyncio.timeout(seconds):
            _, stream = await loop.create_connection(SocketStream, place, port, ssl=tls, **more)
            return stream
    except TimeoutError:
        raise HttpTimeout from None
    except OSError as error:
        raise HttpFailure(_why(error)) from error
    except UnicodeError as error:
        raise HttpFailure("no host can have this name") from error


class SocketStream(asyncio.BufferedProtocol):
    """What asyncio's streams do, in one object: many connections may wait at once."""

    __slots__ = ("_arrived", "_error", "_is_paused", "_size", "_transport", "_waiting", "is_at_end")
    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._arrived: list[bytes] = []
        self._size = 0
        self._is_paused = False
        self._error: Exception | None = None
        self._waiting: asyncio.Future[None] | None = None
        self.is_at_end = False

    def write(self, data: bytes) -> None:
        """Send it; whether that went well is said by the next read."""
        if not self.is_at_end:  # Some loops refuse what asyncio's own ignores.
            self._transport.write(data)

    async def read(self) -> bytes:
        """What arrives next; nothing at the end. Raises HttpFailure."""
        if not self._arrived and not self.is_at_end:
            self._waiting = asyncio.get_running_loop().create_future()
            try:
                await self._waiting
            finally:
                self._waiting = None
        if self._arrived:
            arrived, self._arrived, self._size = self._arrived, [], 0
            if self._is_paused and not self.is_at_end:
                self._is_paused = False
                self._transport.resume_reading()
            return arrived[0] if len(arrived) == 1 else b"".join(arrived)
        if isinstance(self._error, OSError):
            raise HttpFailure(_why(self._error)) from self._error
        return b""

    def close(self) -> None:
        self._transport.abort()

    def is_readable(self) -> bool:
        """Whether the server has closed or said something: asyncio may have read it already, and does not
        look while a program computes."""
        socket = self._transport.get_extra_info("socket")
        if self._arrived or self.is_at_end or socket.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))

    # What asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return _buffer.shared

    def buffer_updated(self, nbytes: int) -> None:
        self._arrived.append(bytes(_buffer.shared[:nbytes]))
        self._size += nbytes
        if self._size > _MOST_UNREAD and not self._is_paused:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self.is_at_end = True
        self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._error, self.is_at_end = error, True
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


def _why(error: OSError) -> str:
    """asyncio's own words repeat the address and the number of the error."""
    if error.errno and not isinstance(error, (gaierror, SSLError)):
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()

"""Sockets of asyncio for httpcore2. Its own come from anyio, whose cancel scopes at every connect, read and
write cost as much as the rest of a request."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Awaitable
from socket import gaierror
from ssl import SSLContext, SSLError
from typing import Any, TypeVar

import httpcore2

T = TypeVar("T")

_NEXT_ADDRESS_SECONDS = 0.25
"""After how long the next address of a host is tried beside the one before (RFC 8305)."""


async def connect(
    url: httpcore2.URL, tls: SSLContext | None, seconds: float | None, address: str | None = None
) -> httpcore2.AsyncNetworkStream:
    """A stream to the host of a URL, at this `address` of it if one is given. Raises ConnectError and
    ConnectTimeout of httpcore2."""
    name = url.host.decode("ascii")
    host = name if address is None else address
    if not 0 <= url.origin.port < 2**16:
        raise httpcore2.ConnectError(f"{url.origin.port} is no port")
    # Racing addresses costs something even where there is only one, and only asyncio's own loops can.
    races = not _is_address(host) and isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop)
    more: dict[str, Any] = {"happy_eyeballs_delay": _NEXT_ADDRESS_SECONDS} if races else {}
    secure = tls if url.scheme == b"https" else None
    if secure is not None:
        more["server_hostname"] = name
    connecting = asyncio.open_connection(host, url.origin.port, ssl=secure, **more)
    reader, writer = await _within(seconds, connecting, httpcore2.ConnectError, httpcore2.ConnectTimeout)
    return _Stream(reader, writer)


class _Stream(httpcore2.AsyncNetworkStream):
    """What is written goes out at the next read, head and content of a request as one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unsent: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._unsent:
            self._writer.write(b"".join(self._unsent))
            self._unsent.clear()
        reading = self._reader.read(max_bytes)
        return await _within(timeout, reading, httpcore2.ReadError, httpcore2.ReadTimeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._unsent.append(buffer)

    async def aclose(self) -> None:
        self._writer.transport.abort()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._is_readable()
        return self._writer.get_extra_info(info)

    def _is_readable(self) -> bool:
        """Whether the server has closed or said something: asyncio may have read it already, and does not
        look while a program computes."""
        socket = self._writer.get_extra_info("socket")
        unread = getattr(self._reader, "_buffer", None)
        if unread or self._reader.at_eof() or socket.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))


async def _within(
    seconds: float | None, work: Awaitable[T], failed: type[Exception], too_slow: type[Exception]
) -> T:
    try:
        if seconds is None:
            return await work
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise too_slow(str(error)) from error
    except OSError as error:
        raise failed(_why(error)) from error
    except UnicodeError as error:
        raise failed("no host can have this name") from error


def _why(error: OSError) -> str:
    """asyncio's own words repeat the address and the number of the error."""
    if error.errno and not isinstance(error, (gaierror, SSLError)):
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()

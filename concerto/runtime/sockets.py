"""Sockets of asyncio for httpcore2. Its own come from anyio, whose cancel scopes at every connect, read and
write cost as much as the rest of a request."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import Awaitable, Iterable
from socket import gaierror
from ssl import SSLContext, SSLError
from typing import Any, TypeVar

import httpcore2

T = TypeVar("T")

_NEXT_ADDRESS_SECONDS = 0.25
"""After how long the next address of a host is tried beside the one before (RFC 8305)."""


class AsyncioBackend(httpcore2.AsyncNetworkBackend):
    """Connects to hosts."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """`timeout` in seconds, here as below. Raises ConnectError and ConnectTimeout of httpcore2."""
        # Racing addresses costs something even where there is only one.
        pause = None if _is_address(host) else _NEXT_ADDRESS_SECONDS
        connecting = asyncio.open_connection(host, port, happy_eyeballs_delay=pause)
        reader, writer = await _within(timeout, connecting, httpcore2.ConnectError, httpcore2.ConnectTimeout)
        return _Stream(reader, writer)


class _Stream(httpcore2.AsyncNetworkStream):
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        reading = self._reader.read(max_bytes)
        return await _within(timeout, reading, httpcore2.ReadError, httpcore2.ReadTimeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._writer.write(buffer)
        await _within(timeout, self._writer.drain(), httpcore2.WriteError, httpcore2.WriteTimeout)

    async def aclose(self) -> None:
        self._writer.transport.abort()

    async def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        shaking = self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        try:
            await _within(timeout, shaking, httpcore2.ConnectError, httpcore2.ConnectTimeout)
        except BaseException:
            await self.aclose()
            raise
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._is_readable()
        return self._writer.get_extra_info(info)

    def _is_readable(self) -> bool:
        """Whether the server has closed or said something: asyncio does not look while a program computes."""
        socket = self._writer.get_extra_info("socket")
        if self._reader.at_eof() or socket.fileno() < 0:
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


def _why(error: OSError) -> str:
    """asyncio's own words repeat the address and the number of the error."""
    if error.errno and not isinstance(error, (gaierror, SSLError)):
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()

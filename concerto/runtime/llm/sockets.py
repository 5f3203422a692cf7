"""Sockets of asyncio as HTTP uses them: connections to hosts, whose errors say in words what went wrong."""

from __future__ import annotations

import asyncio
import os
import select
from socket import gaierror
from ssl import SSLContext, SSLError
from typing import Any

_NEXT_ADDRESS_SECONDS = 0.25
"""After how long the next address of a host is tried beside the one before (RFC 8305)."""


_MOST_READ = 64 * 1024


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
    # Racing addresses costs something even where there is only one, and only asyncio's own loops can.
    races = not _is_address(place) and isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop)
    more: dict[str, Any] = {"happy_eyeballs_delay": _NEXT_ADDRESS_SECONDS} if races else {}
    if tls is not None:
        more["server_hostname"] = host
    try:
        async with asyncio.timeout(seconds):
            return SocketStream(*await asyncio.open_connection(place, port, ssl=tls, **more))
    except TimeoutError:
        raise HttpTimeout from None
    except OSError as error:
        raise HttpFailure(_why(error)) from error
    except UnicodeError as error:
        raise HttpFailure("no host can have this name") from error


class SocketStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def write(self, data: bytes) -> None:
        """Send it; whether that went well is said by the next read."""
        self._writer.write(data)

    async def read(self) -> bytes:
        """What arrives next; nothing at the end. Raises HttpFailure."""
        try:
            return await self._reader.read(_MOST_READ)
        except OSError as error:
            raise HttpFailure(_why(error)) from error

    def close(self) -> None:
        self._writer.transport.abort()

    def is_readable(self) -> bool:
        """Whether the server has closed or said something: asyncio may have read it already, and does not
        look while a program computes."""
        socket = self._writer.get_extra_info("socket")
        unread = getattr(self._reader, "_buffer", None)
        if unread or self._reader.at_eof() or socket.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))


def _why(error: OSError) -> str:
    """asyncio's own words repeat the address and the number of the error."""
    if error.errno and not isinstance(error, (gaierror, SSLError)):
        return os.strerror(error.errno)
    return error.strerror or str(error)


def _is_address(host: str) -> bool:
    return ":" in host or host.replace(".", "").isdigit()

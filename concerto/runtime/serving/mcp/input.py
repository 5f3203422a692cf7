"""Standard input as a client of MCP writes to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from threading import Semaphore, Thread
from typing import Any, BinaryIO, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from concerto.runtime.mcp.process import MOST_BYTES, id_in

_READ_AHEAD = 64
_LAST_SECONDS = 0.1
"""For the answer to a request just before the end, which ends all that is under way."""


@contextmanager
def private_input() -> Iterator[AsyncIterator[str]]:
    """Its lines, for as long as nobody else has them: who reads standard input meanwhile finds its end."""
    own = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        yield _lines(own)
    finally:
        # It stays open: the thread that reads may wait for it still.
        os.dup2(own, 0)


class ReadableMessages:
    """The messages of a client without those that cannot be read, which are refused: who sent one waits."""

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._incoming, name)

    async def __aenter__(self) -> Self:
        await self._incoming.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._incoming.__aexit__(*error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        async for message in self._incoming:
            if not isinstance(message, Exception):
                return message
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await self._outgoing.send(SessionMessage(_refusal(message)))
        raise StopAsyncIteration


def _refusal(error: Exception) -> JSONRPCError:
    """What is said of what is no message of the protocol, to whoever sent it if that can be seen."""
    given = error.errors(include_url=False)[0]["input"] if isinstance(error, ValidationError) else None
    number, why = None, ErrorData(code=PARSE_ERROR, message="this is no message of the protocol")
    if isinstance(given, dict):
        found, why.code = given.get("id"), INVALID_REQUEST
        number = found if type(found) in (int, str) else None
    elif isinstance(given, str):
        number = id_in(given.encode())
    return JSONRPCError(jsonrpc="2.0", id=number, error=why)


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """Read by a thread that nobody waits for: a read cannot be cancelled while a client says nothing."""
    arrived: asyncio.Queue[bytes] = asyncio.Queue()
    room = Semaphore(_READ_AHEAD)
    file = os.fdopen(descriptor, "rb", closefd=False)
    loop = asyncio.get_running_loop()
    Thread(target=_read, args=(file, loop, arrived, room), daemon=True).start()
    while line := await arrived.get():
        room.release()
        yield line.decode("utf-8", "replace")
    await asyncio.sleep(_LAST_SECONDS)


def _read(
    file: BinaryIO, loop: asyncio.AbstractEventLoop, arrived: asyncio.Queue[bytes], room: Semaphore
) -> None:
    with suppress(RuntimeError):  # The loop is gone.
        line = b"?"
        while line:
            try:
                line = rest = file.readline(MOST_BYTES)
                while len(rest) == MOST_BYTES and rest[-1:] != b"\n":  # Nothing reads it, and it is refused.
                    rest = file.readline(MOST_BYTES)
            except OSError:
                line = b""
            room.acquire()
            loop.call_soon_threadsafe(arrived.put_nowait, line)

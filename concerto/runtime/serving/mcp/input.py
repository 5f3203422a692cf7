"""Standard input as a client of MCP writes to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from threading import Semaphore, Thread
from typing import BinaryIO

from concerto.runtime.mcp.process import MOST_BYTES

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
                line = file.readline(MOST_BYTES)
            except OSError:
                line = b""
            room.acquire()
            loop.call_soon_threadsafe(arrived.put_nowait, line)

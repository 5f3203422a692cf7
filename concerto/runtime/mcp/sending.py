"""Send timeouts: how long a message to a server may take to be sent; the client's own limits begin when it is
sent, and a server that does not take what it is sent would be waited for without end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeAlias

import anyio

Streams: TypeAlias = Any
"""The messages of a server, and where messages to it are sent."""


@asynccontextmanager
async def sending_within(
    seconds: float, transport: AbstractAsyncContextManager[Streams]
) -> AsyncIterator[Streams]:
    """A transport that takes each message within so many seconds or raises TimeoutError."""
    async with transport as (incoming, outgoing):
        yield incoming, _Outgoing(outgoing, seconds)


class _Outgoing:
    def __init__(self, stream: Any, seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds

    async def send(self, message: Any, /) -> None:
        with anyio.fail_after(self._seconds):
            await self._stream.send(message)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, trace)

"""Throttle: a connection's `rate_limit`, held over all branches of a run and all runs that share a server."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, TypeAlias

from concerto.effects.gate import Waiter
from concerto.effects.layers.rate import RateLimiter

if TYPE_CHECKING:
    from concerto.runtime.llm.connections import Connection
    from concerto.runtime.llm.providers import StreamPart

Sink: TypeAlias = "Callable[[Sequence[StreamPart]], Awaitable[None]]"

_WINDOW = 60.0


class Throttle:
    """Requests and tokens of the last minute, and a place for each request under way, with the tokens that it
    is likely to take. All who wait are served in the order in which they came."""

    def __init__(self, connection: Connection, waiting: Waiter) -> None:
        self._connection = connection
        self._waiting = waiting
        per_minute = connection.requests_per_minute
        self._turns = None if per_minute is None else RateLimiter(per_minute, waiting)
        self._spent: deque[tuple[float, int]] = deque()
        self._tokens = 0
        self._held = 0
        self._freed = waiting.signal()
        most = connection.concurrent_requests
        self._places = None if most is None else asyncio.Semaphore(most)
        # Who waits for tokens is first in line; the others wait for the line.
        self._line = waiting.line()

    @asynccontextmanager
    async def turn(self, most_tokens: int) -> AsyncIterator[None]:
        """Wait for a place and a turn, and hold the place and tokens: as many as others took of late, or else
        so many, none if that is 0."""
        async with self._places or nullcontext():
            held = await self._take(most_tokens)
            try:
                yield
            finally:
                self._held -= held
                self._freed.set()

    def spend(self, tokens: int) -> None:
        if self._connection.tokens_per_minute is not None:
            self._spent.append((self._waiting.now(), tokens))
            self._tokens += tokens

    async def _take(self, most_tokens: int) -> int:
        if self._turns is not None:
            await self._turns.acquire()
        if self._connection.tokens_per_minute is None:
            return 0
        async with self._line:
            await self._tokens_left(self._connection.tokens_per_minute)
            held = self._tokens // len(self._spent) if self._spent and most_tokens else most_tokens
            self._held += held
            return held

    async def _tokens_left(self, most: int) -> None:
        while True:
            now = self._waiting.now()
            while self._spent and now - self._spent[0][0] >= _WINDOW:
                self._tokens -= self._spent.popleft()[1]
            if self._tokens + self._held < most:
                return
            if self._held:
                self._freed = self._waiting.signal()
                await self._freed.wait()
            else:
                await self._waiting.sleep(self._spent[0][0] + _WINDOW - now)


@asynccontextmanager
async def read_ahead(sink: Sink) -> AsyncIterator[Sink]:
    """What takes the parts of a streamed answer as fast as they come, for a sink that waits for its reader: a
    request must not hold its place until he goes on, who may ask meanwhile. Leaving waits for him."""
    taken: list[StreamPart] = []
    giving: asyncio.Future[None] | None = None

    async def give() -> None:
        while taken:
            parts = taken[:]
            taken.clear()
            await sink(parts)

    async def take(parts: Sequence[StreamPart]) -> None:
        nonlocal giving
        taken.extend(parts)
        if giving is not None and giving.done():
            giving.result()
            giving = None
        if giving is None:
            giving = asyncio.ensure_future(give())

    try:
        yield take
    except BaseException as error:
        if giving is not None and not isinstance(error, Exception):
            giving.cancel()
        raise
    finally:
        if giving is not None:
            await giving

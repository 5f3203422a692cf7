"""Throttle: a connection's `rate_limit`, held over all branches of a run and all runs that share a server."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from concerto.effects.gate import Waiter
from concerto.effects.layers.rate import RateLimiter

if TYPE_CHECKING:
    from concerto.runtime.llm.connections import Connection

_WINDOW = 60.0


class Throttle:
    """Requests and tokens of the last minute, and a place for each request under way. All who wait are served
    in the order in which they came."""

    def __init__(self, connection: Connection, waiting: Waiter) -> None:
        self._connection = connection
        self._waiting = waiting
        per_minute = connection.requests_per_minute
        self._turns = None if per_minute is None else RateLimiter(per_minute, waiting)
        self._spent: deque[tuple[float, int]] = deque()
        self._tokens = 0
        most = connection.concurrent_requests
        self._places = None if most is None else asyncio.Semaphore(most)
        # Who waits for tokens is first in line; the others wait for the line.
        self._line = waiting.line()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and a turn, and hold the place."""
        if self._places is None:
            await self._take()
            yield
            return
        async with self._places:
            await self._take()
            yield

    def spend(self, tokens: int) -> None:
        if self._connection.tokens_per_minute is not None:
            self._spent.append((self._waiting.now(), tokens))
            self._tokens += tokens

    async def _take(self) -> None:
        if self._turns is not None:
            await self._turns.acquire()
        if self._connection.tokens_per_minute is not None:
            async with self._line:
                await self._tokens_left(self._connection.tokens_per_minute)

    async def _tokens_left(self, most: int) -> None:
        while True:
            now = self._waiting.now()
            while self._spent and now - self._spent[0][0] >= _WINDOW:
                self._tokens -= self._spent.popleft()[1]
            if self._tokens < most:
                return
            await self._waiting.sleep(self._spent[0][0] + _WINDOW - now)

"""Rate: `@rate_limit(per_minute: n)` lets so many calls of one subject begin in any 60 seconds; others
wait."""

from __future__ import annotations

from collections import deque

from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.kinds import AnyEffect, subject_of
from concerto.effects.policy import Policy
from concerto.vm.values import Value

_WINDOW = 60.0


def rate_layer(waiting: Waiter) -> Layer:
    turns: dict[str, RateLimiter] = {}

    async def rate(passage: Passage, inner: Perform) -> Value:
        limit = passage.policy.per_minute
        assert limit is not None
        subject = subject_of(passage.effect)
        if subject not in turns:
            turns[subject] = RateLimiter(limit, waiting)
        await turns[subject].acquire()
        return await inner(passage)

    return Layer(_is_limited, rate, by_policy=True)


class RateLimiter:
    """At most `limit` turns begin in any minute, in the order in which they were asked for. Who gives up
    takes none."""

    def __init__(self, limit: int, waiting: Waiter) -> None:
        self._limit = limit
        self._waiting = waiting
        self._begun: deque[float] = deque()
        # The first in line waits for time to pass, the others for the line.
        self._line = waiting.line()

    async def acquire(self) -> None:
        async with self._line:
            begun = self._begun
            if len(begun) == self._limit:
                left = begun[0] + _WINDOW - self._waiting.now()
                if left > 0:
                    await self._waiting.sleep(left)
                begun.popleft()
            begun.append(self._waiting.now())


def _is_limited(effect: AnyEffect, policy: Policy) -> bool:
    return policy.per_minute is not None

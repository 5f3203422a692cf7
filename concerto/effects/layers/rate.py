"""Rate: `@rate_limit(per_minute: n)` lets so many calls of one subject begin in any 60 seconds; others
wait."""

from __future__ import annotations

from collections import deque

from concerto.effects.gate import Layer, Passage, Perform, Waiting
from concerto.effects.kinds import subject_of
from concerto.vm.values import Value

_WINDOW = 60.0


def rate_layer(waiting: Waiting) -> Layer:
    begun: dict[str, deque[float]] = {}

    async def rate(passage: Passage, inner: Perform) -> Value:
        limit = passage.policy.per_minute
        assert limit is not None
        await take_turn(begun.setdefault(subject_of(passage.effect), deque()), limit, waiting)
        return await inner(passage)

    return Layer(lambda effect, policy: policy.per_minute is not None, rate)


async def take_turn(begun: deque[float], limit: int, waiting: Waiting) -> None:
    """Wait for a turn: at most `limit` begin in any minute, in the order in which they were asked for.

    `begun` holds the turns of the last minute and those that have been given away already.
    """
    now = waiting.now()
    while begun and now - begun[0] >= _WINDOW:
        begun.popleft()
    if len(begun) < limit:
        begun.append(now)
        return
    turn = begun[-limit] + _WINDOW
    begun.append(turn)
    try:
        await waiting.sleep(turn - now)
    except BaseException:
        begun.remove(turn)
        raise

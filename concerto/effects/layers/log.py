"""Log: `@log(channel: "audit")` tells a channel about each call of its subject, with outcome and duration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.kinds import subject_of
from concerto.vm.values import ErrorValue, Raised, Value

Log: TypeAlias = Callable[[str, Value], None]


def log_layer(log: Log, waiting: Waiter) -> Layer:
    async def logged(passage: Passage, inner: Perform) -> Value:
        channel = passage.policy.log
        assert channel is not None
        subject = subject_of(passage.effect)
        begun = waiting.now()
        try:
            value = await inner(passage)
        except Raised as raised:
            error = raised.value
            message = error.message if isinstance(error, ErrorValue) else str(error)
            log(channel, {"call": subject, "success": False, "ms": _ms(waiting, begun), "error": message})
            raise
        log(channel, {"call": subject, "success": True, "ms": _ms(waiting, begun)})
        return value

    return Layer(lambda effect, policy: policy.log is not None, logged, by_policy=True)


def _ms(waiting: Waiter, begun: float) -> int:
    return int((waiting.now() - begun) * 1000)

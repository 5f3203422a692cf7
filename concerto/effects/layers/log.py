"""Log: `@log(channel: "audit")` tells a channel about each call of its subject, with outcome and duration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.identity import Identity
from concerto.effects.kinds import AnyEffect, subject_of
from concerto.effects.policy import Policy
from concerto.vm.operations import to_text
from concerto.vm.values import ErrorValue, Raised, Value

Log: TypeAlias = Callable[[str, Value], None]


class Watch(Protocol):
    """Begins when it is made."""

    def ms(self) -> int:
        """The milliseconds until now."""


def log_layer(log: Log, begin: Callable[[Identity], Watch]) -> Layer:
    async def logged(passage: Passage, inner: Perform) -> Value:
        channel = passage.policy.log
        assert channel is not None
        subject = subject_of(passage.effect)
        watch = begin(passage.identity)
        try:
            value = await inner(passage)
        except Raised as raised:
            error = raised.value
            message = error.message if isinstance(error, ErrorValue) else to_text(error)
            log(channel, {"call": subject, "success": False, "ms": watch.ms(), "error": message})
            raise
        log(channel, {"call": subject, "success": True, "ms": watch.ms()})
        return value

    return Layer(_is_logged, logged, by_policy=True)


def _is_logged(effect: AnyEffect, policy: Policy) -> bool:
    return policy.log is not None

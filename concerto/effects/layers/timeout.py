"""Timeout: `@timeout(seconds: n)` ends the work itself, all attempts together, not only the waiting for
it."""

from __future__ import annotations

from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.effects.gate import Layer, Passage, Perform, Waiter
from concerto.effects.kinds import AgentRun, AnyEffect, ModelCall, StageRun, subject_of
from concerto.effects.policy import Policy
from concerto.vm.values import ErrorValue, Raised, Value
from concerto.wording import counted


def timeout_layer(waiting: Waiter) -> Layer:
    async def timeout(passage: Passage, inner: Perform) -> Value:
        seconds = passage.policy.timeout
        assert seconds is not None
        try:
            return await waiting.within(seconds, inner(passage))
        except TimeoutError:
            raise Raised(_too_slow(passage, seconds)) from None

    return Layer(_is_timed, timeout, by_policy=True)


def _too_slow(passage: Passage, seconds: float) -> ErrorValue:
    subject = subject_of(passage.effect)
    message = f"`{subject}` took longer than {counted(seconds, 'second')}"
    match passage.effect:
        case AgentRun() | ModelCall():
            return ErrorValue("AgentError", message, AgentKind.TIMEOUT.value, agent=subject)
        case StageRun():
            return ErrorValue("TimeoutError", message, "Timeout", seconds=float(seconds))
        case _:
            tool, _, method = subject.rpartition("::") if "::" in subject else (subject, "", "")
            kind = ToolKind.TIMEOUT.value
            return ErrorValue("ToolError", message, kind, tool=tool, method=method, seconds=float(seconds))


def _is_timed(effect: AnyEffect, policy: Policy) -> bool:
    return policy.timeout is not None

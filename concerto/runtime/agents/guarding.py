"""Deadline and error context of every execution, by a model or by a host: the seconds of its budget, and
complete errors. What holds for every call from outside: the seconds of a run."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

from concerto.effects.error_kinds import AgentKind, ToolKind
from concerto.natives.agentbuilder import AgentBuilder
from concerto.runtime.io.channels import Channel
from concerto.runtime.run.agent_failures import agent_failure, tool_failure
from concerto.vm.values import NONE, ErrorValue, Raised
from concerto.wording import counted

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

T = TypeVar("T")


async def bounded(run: RunServices, builder: AgentBuilder, work: Awaitable[T]) -> T:
    """The value of `work` within the builder's budget of seconds; an AgentError if it is spent."""
    seconds = builder.most_seconds
    if seconds is None:
        return await work
    try:
        result: T = await run.waiting.within(seconds, work)
    except TimeoutError:
        raise agent_failure(
            f"the budget of {counted(seconds, 'second')} for this execution of `{builder.agent}` is spent",
            AgentKind.BUDGET,
            agent=builder.agent,
        ) from None
    return result


async def as_a_run(run: RunServices, name: str, work: Awaitable[T]) -> T:
    """The value of a call from outside, which has as much time as a run; a ToolError if it is up."""
    seconds = run.options.timeout
    if seconds is None:
        return await work
    try:
        result: T = await run.waiting.within(seconds, work)
    except TimeoutError:
        message = f"`{name}` took longer than {counted(seconds, 'second')}"
        raise tool_failure(message, ToolKind.TIMEOUT, name) from None
    return result


def failed(run: RunServices, builder: AgentBuilder, error: BaseException) -> ErrorValue:
    """The AgentError of a failed execution, complete and told; every other exception goes on its way."""
    value = error.value if isinstance(error, Raised) else None
    if not isinstance(value, ErrorValue) or value.type_name != "AgentError":
        raise error
    value.fields["agent"] = value.fields.get("agent") or builder.agent
    for name, unknown in (("provider", ""), ("status", NONE), ("retry_after_ms", NONE), ("messages", [])):
        value.fields.setdefault(name, unknown)
    told = {"agent": builder.agent, "message": value.message, "kind": value.kind}
    run.emit_event(Channel.AGENT_ERROR, lambda: told)
    return value

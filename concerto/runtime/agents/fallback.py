"""Fallback models: who is asked next when a model fails for good.

The conversation goes on where it was. What a provider wants back of its own answers (signatures, ids) means
nothing to another one and is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.error_kinds import AgentKind
from concerto.records import replace
from concerto.runtime.agents.execution import Execution
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import RunServices

_FOR_GOOD = frozenset(
    {
        AgentKind.PROVIDER, AgentKind.AUTHENTICATION, AgentKind.RATE_LIMITED, AgentKind.TIMEOUT,
        AgentKind.CONNECTION_LOST, AgentKind.INVALID_REPLY, AgentKind.MISSING_KEY, AgentKind.SCHEMA,
    }
)  # fmt: skip
"""Failures of one model that another may not have. What was read of a stream cannot be taken back."""


def falls_back(run: RunServices, work: Execution, raised: Raised) -> bool:
    """Whether there is another model to ask after a failure; then it is the one that is asked from now on."""
    plan, error = work.plan, raised.value
    if plan.fall_back is None or not isinstance(error, ErrorValue) or error.kind not in _FOR_GOOD:
        return False
    after = plan.fall_back(plan)
    if after is None:
        return False
    if after.connection.name != plan.connection.name:
        work.messages[:] = [without_echo(message) for message in work.messages]
    work.plan = after
    told: dict[str, Value] = {
        "agent": plan.agent,
        "model": plan.request.model,
        "next": after.request.model,
        "kind": str(error.kind),
        "problem": error.message,
    }
    run.emit_event(Channel.AGENT_FALLBACK, lambda: told)
    run.note("fallback", lambda: told, work.branch)
    return True


def without_echo(message: Message) -> Message:
    """A message as another provider may read it."""
    if message.echo is None and not any(call.echo for call in message.calls):
        return message
    calls = tuple([replace(call, echo=None) for call in message.calls])
    return replace(message, echo=None, calls=calls)

"""`on_tool_error`: an agent's own say in what becomes of a failed tool call."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from concerto.records import record
from concerto.runtime.concurrency.fibers import drive
from concerto.vm.operations import parts_of
from concerto.vm.values import ErrorValue, Variant, failure

if TYPE_CHECKING:
    from concerto.runtime.agents.execution import Execution
    from concerto.runtime.run.surroundings import Surroundings


class Action(Enum):
    """The variants of ToolErrorAction."""

    RETRY = "Retry"
    REPORT = "ReportToLLM"
    FAIL = "Fail"


@record(frozen=True)
class Decision:
    kind: Action
    retries: int = 0


async def ask_hook(run: Surroundings, work: Execution, tool: str, error: ErrorValue) -> Decision:
    """What the agent's `on_tool_error` decides; the plan has one."""
    function = work.plan.on_tool_error
    assert function is not None
    agent = run.machine.host.reference("agent", work.plan.agent)
    value = await drive(work.branch.child(), lambda: run.machine.call(function, [agent, tool, error]))
    if not isinstance(value, Variant):
        raise failure("`on_tool_error` gives a ToolErrorAction", "TypeError")
    payload = parts_of(value)
    return Decision(Action(value.variant_name), payload[0] if payload else 0)

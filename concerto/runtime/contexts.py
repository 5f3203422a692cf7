"""ToolContext: what a tool's method is told about the execution that calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.natives.hashmap import HashMap
from concerto.vm.values import NONE, Some, Value

if TYPE_CHECKING:
    from concerto.runtime.tools import CallContext
    from concerto.vm.machine import Machine


def tool_context(machine: Machine, caller: CallContext) -> Value:
    """The ToolContext of a call; its maps are shared by all calls of the execution."""
    return machine.struct(
        "ToolContext",
        context=HashMap() if caller.context is None else caller.context,
        data=HashMap() if caller.data is None else caller.data,
        agent=caller.agent,
        call_id=caller.call_id,
        iteration=caller.iteration,
        memory=NONE if caller.memory is None else Some(caller.memory),
    )


def shared_map(given: Value) -> Value:
    """The map that an execution's tools share: the program's own hashmap, or a fresh one filled from a Map."""
    if isinstance(given, dict):
        return HashMap(given)
    return HashMap() if given is None else given

"""The maps that the tools of one execution share, and their ToolContext."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.natives.hashmap import HashMap
from concerto.natives.toolcontext import ToolContext
from concerto.vm.values import NONE, Some, Value

if TYPE_CHECKING:
    from concerto.runtime.tools.declared_tools import CallContext


def tool_context(caller: CallContext) -> Value:
    """The ToolContext of a call; its maps are shared by all calls of the execution."""
    return ToolContext(
        HashMap() if caller.context is None else caller.context,
        HashMap() if caller.data is None else caller.data,
        caller.agent,
        caller.call_id,
        caller.iteration,
        NONE if caller.memory is None else Some(caller.memory),
    )


def shared_map(given: Value) -> Value:
    """The map that an execution's tools share: the program's own hashmap, or a fresh one filled from a
    Map."""
    if isinstance(given, dict):
        return HashMap(given)
    return HashMap() if given is None else given

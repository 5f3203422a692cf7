"""`ToolContext`: what a tool's method is told about the execution that calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from concerto.natives.hashmap import HashMap, get, set_entry, update
from concerto.records import record
from concerto.vm.native import native
from concerto.vm.values import Handle, Some, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@record(frozen=True, eq=False)
class ToolContext(Handle):
    """`context` and `data` are shared by all calls of an execution; `memory` is an Option."""

    type_name: ClassVar[str] = "ToolContext"
    context: HashMap
    data: HashMap
    agent: str
    call_id: str
    iteration: int
    memory: Value

    def member(self, name: str) -> Value:
        if name in self.__slots__:
            return getattr(self, name)
        return Handle.member(self, name)


@native("ToolContext::get")
def get_value(context: ToolContext, key: str) -> Value:
    return get(context.context, key)


@native("ToolContext::set", machine=True)
def set_value(machine: Machine, context: ToolContext, key: str, value: Value) -> None:
    set_entry(machine, context.context, key, value)


@native("ToolContext::progress", machine=True)
def progress(machine: Machine, context: ToolContext, done: float, total: Value, message: str) -> None:
    machine.host.progress(done, total.value if isinstance(total, Some) else None, message)


@native("ToolContext::update", machine=True)
def update_value(machine: Machine, context: ToolContext, key: str, change: Callable[[Value], Value]) -> None:
    update(machine, context.context, key, change)

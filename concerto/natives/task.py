"""`Task<T>`: work that was started with `spawn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from concerto.vm.native import native
from concerto.vm.values import HandleType, TypedHandle, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


class Task(TypedHandle):
    """What every host's tasks can do; a host adds how they run."""

    __slots__ = ("known",)
    type_name: ClassVar[str] = "Task"

    def __init__(self) -> None:
        self.known: HandleType | None = None

    def done(self) -> bool:
        raise NotImplementedError

    def cancel(self) -> None:
        raise NotImplementedError

    def to_text(self) -> str:
        return "Task(done)" if self.done() else "Task(running)"


@native("Task::cancel")
def cancel(task: Task) -> None:
    task.cancel()


@native("Task::is_done")
def is_done(task: Task) -> bool:
    return task.done()


@native("Task::scope", machine=True)
def scope(machine: Machine, body: Callable[[], Value]) -> Value:
    """The compiler puts the body of every function that may own tasks into this."""
    return machine.host.task_scope(body)

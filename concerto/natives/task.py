"""`Task<T>`: work that was started with `spawn`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from concerto.vm.native import native
from concerto.vm.values import Handle


class Task(Handle):
    """`work` is the event loop's own object; the host awaits it."""

    __slots__ = ("_cancel", "_done", "work")
    type_name: ClassVar[str] = "Task"

    def __init__(self, work: object, done: Callable[[], bool], cancel: Callable[[], object]) -> None:
        self.work = work
        self._done = done
        self._cancel = cancel

    def done(self) -> bool:
        return self._done()

    def cancel(self) -> None:
        self._cancel()

    def to_text(self) -> str:
        return "Task(done)" if self.done() else "Task(running)"


@native("Task::cancel")
def cancel(task: Task) -> None:
    task.cancel()


@native("Task::is_done")
def is_done(task: Task) -> bool:
    return task.done()

"""Structured concurrency: the tasks that `spawn` starts, and the functions that own it.

A function that starts tasks has a scope. It does not end before they do: when it returns it waits for them,
when it fails or is cancelled it cancels them. A task in the value that it returns goes to its caller.

The tasks of a scope stand together: one that fails cancels the others. Its failure reaches whoever awaits it
or one of the others, and the end of the function if nobody has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from concerto.natives.task import Task
from concerto.runtime.concurrency.fibers import Branch, cancel, current_branch, drive, unwind, wait
from concerto.runtime.concurrency.stopped import start_noting
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.values import Err, Ok, Some, Struct, Value, Variant, failure, parts_of

if TYPE_CHECKING:
    import asyncio

Body: TypeAlias = Callable[[], Value]


class RunningTask(Task):
    """A Task that the event loop runs, in branches whose paths begin with `path`. `cause` is the failure of
    another one that cancelled it; `seen` says that somebody was told how it ended; `messages` holds what its
    agent's execution had said when it was cancelled."""

    __slots__ = ("cause", "messages", "path", "scope", "seen", "work")

    def __init__(
        self, work: asyncio.Task[Value], path: tuple[int, ...], messages: list[Value], scope: TaskScope
    ) -> None:
        super().__init__()
        self.work = work
        self.path = path
        self.messages = messages
        self.scope = scope
        self.cause: BaseException | None = None
        self.seen = False

    def done(self) -> bool:
        return self.work.done()

    def cancel(self) -> None:
        self.work.cancel()

    def failure(self) -> BaseException | None:
        """What the work failed with; being cancelled is no failure."""
        return None if not self.work.done() or self.work.cancelled() else self.work.exception()


class TaskScope:
    """The tasks of one function that have not ended, or ended with a failure that nobody has seen."""

    __slots__ = ("_tasks",)

    def __init__(self) -> None:
        self._tasks: dict[RunningTask, None] = {}

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def add(self, work: asyncio.Task[Value], path: tuple[int, ...], messages: list[Value]) -> RunningTask:
        task = RunningTask(work, path, messages, self)
        self._tasks[task] = None
        work.add_done_callback(lambda _: task.scope.ended(task))
        return task

    def ended(self, task: RunningTask) -> None:
        error = task.failure()
        if error is None or task.seen:
            self._tasks.pop(task, None)
        if error is None:
            return
        for other in self._tasks:
            if not other.done():
                other.cause = error
                other.cancel()

    def seen(self, task: RunningTask) -> None:
        task.seen = True
        if task.done():
            self._tasks.pop(task, None)

    def transfer(self, value: Value, to: TaskScope) -> None:
        """Let another scope have the tasks in a value."""
        for task in _tasks_in(value):
            if task in self._tasks:
                del self._tasks[task]
                to._tasks[task] = None
                task.scope = to

    async def join(self) -> None:
        """Wait until all tasks have ended; their first failure is raised when the others have ended too."""
        import asyncio

        try:
            while running := [task.work for task in self._tasks if not task.done()]:
                await asyncio.wait(running)
                # The callbacks of their ends come first.
                await asyncio.sleep(0)
        finally:
            await cancel([task.work for task in self._tasks])
        for task in self._tasks:
            error = task.failure()
            if error is not None:
                raise error

    async def join_quietly(self) -> None:
        """Wait until all tasks have ended, however."""
        import asyncio

        while running := [task.work for task in self._tasks if not task.done()]:
            await asyncio.wait(running)

    async def stop(self) -> None:
        """Cancel all tasks and wait for their end."""
        await cancel([task.work for task in self._tasks])
        self._tasks.clear()


def scoped(body: Body) -> Value:
    """Called by program code: run the body of a function that owns tasks."""
    branch = current_branch()
    outer, scope = scope_of(branch), TaskScope()
    branch.tasks = scope
    try:
        value = body()
        if scope:
            scope.transfer(value, outer)
        if scope:
            wait(scope.join)
        return value
    except Exception:
        if scope:
            wait(scope.stop)
        raise
    except BaseException:
        if scope:
            unwind(scope.stop)
        raise
    finally:
        branch.tasks = outer


def scope_of(branch: Branch) -> TaskScope:
    """The scope of the innermost function that is known to own tasks."""
    scope = branch.tasks
    if not isinstance(scope, TaskScope):
        scope = branch.tasks = TaskScope()
    return scope


async def spawn(branch: Branch, body: Body, keep: Callable[[asyncio.Task[Value]], None]) -> RunningTask:
    """Start a body as a task of the branch's scope."""
    child = branch.child()
    work, messages = start_noting(drive(child, body))
    keep(work)
    return scope_of(branch).add(work, child.path, messages)


async def result_of(task: RunningTask) -> Value:
    """The value of a task, or its failure. Whoever waits may be cancelled without the task."""
    import asyncio

    if not task.done():  # One that has ended may be of a loop that has ended too.
        await asyncio.wait([task.work])
    task.scope.seen(task)
    if not task.work.cancelled():
        return task.work.result()
    if task.cause is not None:
        raise task.cause
    cancelled = failure("the task was cancelled", "Cancelled")
    if task.messages:
        cancelled.value.fields["messages"] = list(task.messages)
    raise cancelled


def _tasks_in(value: Value) -> Iterator[RunningTask]:
    left = [value]
    while left:
        match left.pop():
            case RunningTask() as task:
                yield task
            case list() | tuple() as items:
                left.extend(items)
            case dict() as entries:
                left.extend(entries.values())
            case Some(value=inner) | Ok(value=inner) | Err(value=inner):
                left.append(inner)
            case Struct() | Variant() as record:
                left.extend(parts_of(record))
            case Set() as members:
                left.extend(members.items.values())
            case Queue() | Stack() as row:
                left.extend(row.items)
            case _:
                pass

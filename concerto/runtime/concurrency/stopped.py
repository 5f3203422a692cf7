"""What executions of a task had said when the task was cancelled, for whoever awaits it."""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, TypeAlias

from concerto.vm.values import Value

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine
    from typing import Any

Said: TypeAlias = list[Value]
"""Message structs."""

_said: ContextVar[Said | None] = ContextVar("said", default=None)


def note_stopped(messages: Said) -> None:
    """Leave the messages of an execution that is being cancelled to the task that it belongs to."""
    said = _said.get()
    if said is not None:
        said[:] = messages


def start_noting(work: Coroutine[Any, Any, Value]) -> tuple[asyncio.Task[Value], Said]:
    """A task for the work, and the list that gets what its execution had said."""
    import asyncio

    said: Said = []
    context = copy_context()
    context.run(_said.set, said)
    return asyncio.get_running_loop().create_task(work, context=context), said

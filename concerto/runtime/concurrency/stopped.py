"""Partial results of cancelled tasks: what executions of a task had said when the task was cancelled, for
whoever awaits it."""

from __future__ import annotations

from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, TypeAlias

from concerto.vm.values import Value

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Coroutine
    from typing import Any

Messages: TypeAlias = list[Value]
"""Message structs."""

_messages: ContextVar[Messages | None] = ContextVar("messages", default=None)


def note_stopped(messages: Messages) -> None:
    """Leave the messages of an execution that is being cancelled to the task that it belongs to."""
    kept = _messages.get()
    if kept is not None:
        kept[:] = messages


def start_noting(work: Coroutine[Any, Any, Value]) -> tuple[asyncio.Task[Value], Messages]:
    """A task for the work, and the list that gets what its execution had said."""
    import asyncio

    messages: Messages = []
    context = copy_context()
    context.run(_messages.set, messages)
    return asyncio.get_running_loop().create_task(work, context=context), messages

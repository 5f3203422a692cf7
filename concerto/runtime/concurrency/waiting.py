"""How the gate's layers wait and tell the time: the run's event loop."""

from __future__ import annotations

from collections.abc import Awaitable
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING

from concerto.vm.values import Value

if TYPE_CHECKING:
    import asyncio

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the time of the present task is up, by `monotonic`: the earliest of all that bound it."""


class LoopWaiting:
    """Implements `effects.gate.Waiter`. Before `begin` there is nothing to wait for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Value] | None = None
        self._interrupted = False

    def begin(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Value]) -> None:
        """The loop of the run, and the task that all of its work hangs on."""
        self._loop, self._task = loop, task
        if self._interrupted:
            task.cancel()

    def interrupt(self) -> None:
        """Cancel the run's task; from any thread."""
        self._interrupted = True
        if self._loop is not None and self._task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    def stop(self) -> None:
        """Cancel the run's task, from its own loop."""
        if self._task is not None:
            self._task.cancel()

    def line(self) -> asyncio.Lock:
        import asyncio

        return asyncio.Lock()

    def signal(self) -> asyncio.Event:
        import asyncio

        return asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        import asyncio

        await asyncio.sleep(seconds)

    async def within(self, seconds: float, work: Awaitable[Value]) -> Value:
        import asyncio

        async with asyncio.timeout(seconds) as limit:
            ends, outer = limit.when(), deadline.get()
            before = deadline.set(ends if outer is None or ends is None else min(ends, outer))
            try:
                return await work
            finally:
                deadline.reset(before)

    def now(self) -> float:
        return monotonic()

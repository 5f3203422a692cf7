"""Clock of the gate's layers: how they wait and tell the time, by the run's event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from time import monotonic

from concerto.annotating import TYPE_CHECKING, Any
from concerto.vm.values import Value

if TYPE_CHECKING:
    import asyncio

    from concerto.journal.order import Order

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the time of the present task is up, by `monotonic`: the earliest of all that bound it."""


def cancel_from_afar(task: asyncio.Task[Any]) -> None:
    """Cancel a task, from any thread. A loop that is closed, perhaps just now, has nothing left to cancel."""
    try:
        task.get_loop().call_soon_threadsafe(task.cancel)
    except RuntimeError:
        return


class LoopWaiting:
    """Implements `effects.gate.Waiter`. Before `begin` there is nothing to wait for. As long as a run that is
    done again repeats what is known, it takes no time, and times are up when they were."""

    def __init__(self, order: Callable[[], Order] | None = None) -> None:
        self._order = order
        self._task: asyncio.Task[Value] | None = None
        self._interrupted = False
        self.stopping = False
        """Whether all work of the run is to end."""

    def begin(self, task: asyncio.Task[Value]) -> None:
        """The task that all work of the run hangs on."""
        self._task = task
        if self._interrupted:
            task.cancel()

    def interrupt(self) -> None:
        """Cancel the run's task; from any thread."""
        self._interrupted = self.stopping = True
        if self._task is not None:
            cancel_from_afar(self._task)

    def stop(self) -> None:
        """Cancel the run's task, from its own loop."""
        self.stopping = True
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

        repeats = self._order is not None and self._order().replaying
        await asyncio.sleep(0 if repeats else seconds)

    async def within(self, seconds: float, work: Awaitable[Value]) -> Value:
        import asyncio

        order = None if self._order is None else self._order()
        async with asyncio.timeout(None if order is not None and order.replaying else seconds) as limit:
            step = "" if order is None else order.begin_timer(limit, seconds)
            ends, outer = limit.when(), deadline.get()
            before = deadline.set(min([each for each in (ends, outer) if each is not None], default=None))
            try:
                return await work
            finally:
                deadline.reset(before)
                if order is not None:
                    order.end_timer(step, expired=limit.expired())

    def now(self) -> float:
        return monotonic()

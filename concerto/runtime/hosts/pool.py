"""Process pool of one host: as many as the manifest says, each in one execution at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.concurrency.waits import Seats, WaitGraph
from concerto.runtime.hosts.process import HostProcess
from concerto.runtime.hosts.settings import HostSettings
from concerto.vm.values import Raised


class Pool:
    def __init__(self, settings: HostSettings, on_line: Callable[[str], None], waits: WaitGraph) -> None:
        self._settings = settings
        self._on_line = on_line
        self._processes = [HostProcess(settings, on_line) for _ in range(settings.processes)]
        self._idle = list(reversed(self._processes))
        self._seats = Seats(waits, settings.processes)

    @asynccontextmanager
    async def process(self, execution: object, branch: Branch) -> AsyncIterator[HostProcess]:
        """A process for one execution, in the order in which they were asked for. One that is left in the
        middle of a turn has ended itself; one that is left between two, by a failure that it did not report,
        is ended here. Where all are busy with executions that wait for this one, it gets one of its own."""
        async with self._seats.seat(execution, branch) as counted:
            if not counted:
                further = HostProcess(self._settings, self._on_line)
                try:
                    yield further
                finally:
                    await further.stop()
                return
            process = self._idle.pop()
            try:
                yield process
            except Raised as raised:
                if not isinstance(raised, WorkerError):
                    await process.stop(at_once=True)
                raise
            except BaseException:
                await process.stop(at_once=True)
                raise
            finally:
                self._idle.append(process)

    async def close(self) -> None:
        await asyncio.gather(*[process.stop() for process in self._processes])


class WorkerError(Raised):
    """What a process reported itself; it is ready for the next execution."""

"""Background work of a server that workers do: it submits, and reads in the store what comes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from concerto.workers.dispatcher import DEFAULT_QUEUE, Job
from concerto.workers.submitting import SERVED

if TYPE_CHECKING:
    from concerto.program import Program
    from concerto.runtime.run.options import RunOptions
    from concerto.stored_runs import RunStore
    from concerto.workers.postgres_dispatcher import PostgresDispatcher


class BackgroundWorkers:
    """The workers of a store, as a server sees them. With a `queue` all goes to those that serve it; else to
    those of the default queue, as long as there are some."""

    def __init__(self, runs: RunStore, dispatcher: PostgresDispatcher, queue: str | None) -> None:
        self._runs = runs
        self._dispatcher = dispatcher
        self._queue = queue

    @property
    def are_there(self) -> bool:
        """Whether what begins now is for them."""
        return self._queue is not None or self._dispatcher.is_served(DEFAULT_QUEUE)

    def transaction(self) -> AbstractContextManager[Any]:
        """Under it a run and what is written of it are seen by workers together."""
        return self._dispatcher.transaction()

    def has(self, run: str) -> bool:
        """Whether a run is theirs, and not the server's."""
        return self._dispatcher.hold(run)

    def begin(self, program: Program, options: RunOptions) -> str:
        """The id of a run that they begin."""
        run = self._runs.enlist(program, options, SERVED)
        self._submit(run)
        return run

    def hand_over(self, run: str) -> None:
        """Let them go on with a run that this process has taken up, and that has done nothing since."""
        row = self._runs.store.run(run)
        self._runs.store.write(run, row.epoch, durable=True, status="queued", owner="", origin=SERVED)
        self._submit(run)

    def take_back(self, run: str) -> None:
        """This process goes on with a run itself."""
        self._dispatcher.forget(run)

    def wake(self, run: str) -> None:
        """A run that waited has been answered, or cancelled."""
        self._dispatcher.wake(run)

    def _submit(self, run: str) -> None:
        self._dispatcher.submit(Job(run, self._queue or DEFAULT_QUEUE))

"""A worker: goes on with the runs that its dispatcher gives it, some at a time, each in a thread of its own.

A worker that loses its lease stops what it does at once, and begins anew as another worker. What it wrote
meanwhile was refused: whoever took over has raised the epochs of its runs.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from concerto.journal.databases import StoreError
from concerto.journal.postgres_database import PostgresDatabase
from concerto.journal.rows import ENDED, RunRow
from concerto.journal.settling import CannotResume
from concerto.journal.store import Busy, NoSuchRun, open_store, this_process
from concerto.manifest import ManifestError
from concerto.records import field, record, replace
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import RunStore
from concerto.version import __version__
from concerto.workers.lease import Lease, session_name
from concerto.workers.postgres_dispatcher import PostgresDispatcher, TakenOver
from concerto.workers.schedules import Schedules

if TYPE_CHECKING:
    from concerto.program import Runtime

_PAUSE = 1.0
"""Seconds until a lost database is tried again."""
_STUCK = 5.0
"""Seconds that runs have to stop in when the lease is lost; then the process ends."""


_LATER = 10.0
"""Seconds until a run is tried again that could not go on here."""


Work: TypeAlias = "tuple[Runtime, Callable[[], object]]"
"""A run that goes on, and what is to be done with it."""
TakeUp: TypeAlias = Callable[[RunStore, RunRow, RunOptions], "Work | None"]
"""Goes on with a run by the options of this process; None if there is nothing left to do."""


@record(frozen=True, kw_only=True)
class WorkerSettings:
    """What a worker serves: its `queues`, so many runs at a time, and how long those may go on that are under
    way when it is told to stop, in seconds. `options` are those that a run does not keep; `others` take up
    the runs that are not for their `main`, by their origin."""

    url: str
    queues: Sequence[str]
    concurrency: int
    grace: float
    options: RunOptions
    others: Mapping[str, TakeUp] = field(default_factory=dict)


class Worker:
    """One process may have one. `say` is told what happens."""

    def __init__(self, settings: WorkerSettings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = say
        self._going: dict[str, tuple[Runtime, asyncio.Task[None]]] = {}
        self._doubted = ""
        self._past: Lease | None = None

    async def run(self) -> bool:
        """Work until SIGTERM or SIGINT; whether it was the latter."""
        self._interrupted = False
        self._loop = asyncio.get_running_loop()
        self._stopping, self._news = asyncio.Event(), asyncio.Event()
        self._loop.set_default_executor(ThreadPoolExecutor(self._settings.concurrency, "run"))
        for name, interrupted in (("SIGTERM", False), ("SIGINT", True)):
            self._loop.add_signal_handler(getattr(signal, name), self._stop, interrupted)
        told = ""
        while not self._stopping.is_set():
            try:
                await self._work_under_a_lease()
            except StoreError as error:
                if str(error) != told:
                    told = str(error)
                    self._say(f"{told}; trying again")
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._stopping.wait(), _PAUSE)
        self._close_past()
        return self._interrupted

    def _stop(self, interrupted: bool) -> None:
        self._interrupted = interrupted
        self._stopping.set()
        self._news.set()

    async def _work_under_a_lease(self) -> None:
        """Until the worker is to stop, or its lease or database is lost."""
        store = open_store(self._settings.url)
        try:
            dispatcher = PostgresDispatcher(store.database)
            self._runs, self._dispatcher = RunStore(store), dispatcher
            self._schedules = Schedules(store, dispatcher)
            self._lost = ""
            lease = Lease(
                self._settings.url,
                dispatcher,
                self._hear,
                self._tell_taken_over,
                self._lose,
                self._tick,
            )
            lease.open(this_process(), __version__, self._settings.queues)
            # Whoever takes over from the one before sees that this process lives on.
            self._close_past()
            try:
                if isinstance(store.database, PostgresDatabase):
                    store.database.be_known_as(session_name(lease.worker))
                await self._serve(lease)
            finally:
                lease.stop()
                self._past = lease
        finally:
            store.close()

    def _close_past(self) -> None:
        """Give up the lease under which nothing is done any more."""
        if self._past is not None:
            self._past.close()
            self._past = None

    async def _serve(self, lease: Lease) -> None:
        served = ", ".join(self._settings.queues)
        self._say(f"worker {lease.worker} ({this_process()}) serves {served}")
        try:
            while not self._stopping.is_set():
                self._require(lease)
                self._news.clear()
                try:
                    self._begin_more(lease.worker)
                except StoreError:
                    self._require(lease)
                    raise
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), _PAUSE)
            await self._drain(lease)
        finally:
            await self._stop_all()

    def _require(self, lease: Lease) -> None:
        if self._lost or not lease.is_held:
            raise StoreError(
                f"worker {lease.worker} lost its lease: {self._lost or 'no heartbeat got through'}"
            )

    def _tick(self) -> None:
        self._dispatcher.promote()
        self._schedules.submit_due()

    def _hear(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)

    def _lose(self, why: str) -> None:
        self._lost = self._lost or why
        database = self._runs.store.database
        if isinstance(database, PostgresDatabase):
            database.break_off()
        self._hear()

    def _begin_more(self, worker: int) -> None:
        room = self._settings.concurrency - len(self._going)
        if room <= 0:
            return
        doubtful = not self._doubted
        for each in self._dispatcher.claim(worker, self._settings.queues, room, doubtful=doubtful):
            if each.doubtful:
                self._doubted = each.run
            self._begin(each.run, worker)

    def _begin(self, run: str, worker: int) -> None:
        """Go on with a run that is ours. What cannot be done here may be elsewhere, or later."""
        output = _Prefixed(sys.stdout, run)
        stream: Any = output
        options = replace(self._settings.options, parks=True, output=stream, errors=stream)
        try:
            row = self._runs.store.run(run)
            work = self._settings.others.get(row.origin, _take_up)(self._runs, row, options)
        except (CannotResume, ManifestError, Busy, NoSuchRun) as refusal:
            self._say(f"{run} cannot go on here: {refusal}")
            self._dispatcher.postpone(run, worker, _LATER)
            return
        if work is None:
            self._dispatcher.end(run)
            return
        runtime, do = work
        self._going[run] = runtime, self._loop.create_task(self._drive(run, runtime, do, worker, output))

    async def _drive(
        self, run: str, runtime: Runtime, do: Callable[[], object], worker: int, output: _Prefixed
    ) -> None:
        try:
            await asyncio.to_thread(do)
        except Exception as error:
            self._say(f"{run}: internal error: {type(error).__name__}: {error}")
        finally:
            output.end()
            self._going.pop(run, None)
            if self._doubted == run:
                self._doubted = ""
            self._news.set()
        self._settle(run, runtime, worker)

    def _settle(self, run: str, runtime: Runtime, worker: int) -> None:
        """What becomes of the job of a run that has stopped."""
        try:
            status = self._runs.store.run(run).status
            if status in ENDED:
                self._dispatcher.end(run)
            elif status in ("waiting", "unknown"):
                ends = [each["until"] for each in runtime.pending if each["kind"] == "sleep"]
                self._dispatcher.park(run, worker, min(ends) - monotonic() if ends else None)
            else:  # One that still counts as running could not be written.
                self._dispatcher.release(run, worker, _LATER if status == "running" else 0.0)
            self._say(f"{run} is {status}")
        except NoSuchRun:
            self._say(f"{run} is pruned")
        except StoreError as error:
            # The job is ours for as long as we live, so this worker ends.
            self._lose(str(error))

    async def _drain(self, lease: Lease) -> None:
        """Let the runs that are under way end, for a while."""
        ends = self._loop.time() + self._settings.grace
        while self._going and self._loop.time() < ends:
            self._require(lease)
            self._news.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), 0.2)

    async def _stop_all(self) -> None:
        tasks = [task for _, task in self._going.values()]
        for runtime, _ in list(self._going.values()):
            runtime.stop()
        if not tasks:
            return
        _, left = await asyncio.wait(tasks, timeout=_STUCK)
        if left:
            # What does not stop may act in the world, and another worker goes on with it.
            self._say(f"{len(left)} runs do not stop; this process ends")
            sys.stdout.flush()
            os._exit(1)

    def _tell_taken_over(self, taken: TakenOver) -> None:
        queued = f": {', '.join(taken.queued)} go on" if taken.queued else ""
        self._say(f"{taken.worker} {'is dead' if taken.died else 'began anew'}{queued}")
        for run in taken.given_up:
            self._say(f"{run} is given up: each worker that went on with it died")


def _take_up(runs: RunStore, row: RunRow, options: RunOptions) -> Work | None:
    """The `main` of a run."""
    if row.status in ENDED:  # Cancelled before it began, or nobody was left to say that it had ended.
        return None
    runtime = runs.going_on(row.id, options=options)
    return runtime, runtime.run


class _Prefixed:
    """A stream whose lines begin with the run that says them."""

    def __init__(self, stream: TextIO, run: str) -> None:
        self._stream, self._run, self._line = stream, run, ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._stream.write(f"{self._run} | {line}\n")
        return len(text)

    def end(self) -> None:
        """Say the last line too, which may have no end."""
        if self._line:
            self.write("\n")

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

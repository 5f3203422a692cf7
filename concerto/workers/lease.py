"""A worker's lease: a session advisory lock named by its number, and a heartbeat.

Whoever obtains the lock of another worker knows that it is dead, and takes over. One that says nothing any
more while its sessions live on (stopped, or cut off) has all of them ended by the others, in the middle of
whatever they did. A worker that could not say anything for a while has to take itself for dead first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

import psycopg

from concerto.journal.databases import StoreError
from concerto.journal.postgres_database import be_known_as, break_off, connect
from concerto.workers.postgres_dispatcher import CHANNEL, LOCKS, SILENT, PostgresDispatcher, TakenOver

_BEAT = 1.0
"""Seconds between two heartbeats."""
_PATIENCE = 5.0
"""Seconds without a heartbeat after which a worker takes itself for dead."""

_HELD = (
    "locktype = 'advisory' AND classid = %s AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def session_name(worker: int) -> str:
    """What the database knows the connections of a worker by."""
    return f"concerto worker {worker}"


class Lease:
    """Held from `open` on by a thread of its own, which also wakes the worker (`wake`) when there may be
    something to do, tells it (`told`) whose jobs were queued again, and that the lease is `lost`, once."""

    def __init__(
        self,
        url: str,
        dispatcher: PostgresDispatcher,
        wake: Callable[[], None],
        told: Callable[[TakenOver], None],
        lost: Callable[[str], None],
        tick: Callable[[], None],
    ) -> None:
        self._url = url
        self._dispatcher = dispatcher
        self._wake, self._told, self._lost, self._tick = wake, told, lost, tick
        self._over = threading.Event()
        self._beat = monotonic()
        self.worker = 0

    def open(self, name: str, version: str, queues: Sequence[str]) -> None:
        """Raises StoreError."""
        try:
            self._connection = connect(self._url)
            with self._connection.transaction():
                [row] = self._connection.execute(
                    "INSERT INTO concerto.workers (name, version, queues) VALUES (%s, %s, %s) RETURNING id",
                    (name, version, list(queues)),
                ).fetchall()
                # Nobody sees the worker before it has its lock.
                self._connection.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, row[0]))
            be_known_as(self._connection, session_name(row[0]))
            self._connection.execute(f"LISTEN {CHANNEL}")
        except psycopg.Error as error:
            raise StoreError(" ".join(str(error).split())) from error
        self.worker, self._beat = row[0], monotonic()
        self._thread = threading.Thread(target=self._hold, name="lease", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    @property
    def is_held(self) -> bool:
        """Whether nobody else can have taken over yet."""
        return not self._over.is_set() and monotonic() - self._beat < _PATIENCE

    def stop(self) -> None:
        """Say nothing any more. The worker has nothing left to do."""
        self._over.set()
        self._thread.join(_BEAT + _PATIENCE)

    def close(self) -> None:
        """Give it up, once it is stopped."""
        with suppress(psycopg.Error):
            # While it has jobs it is left to be taken over.
            self._connection.execute(
                "DELETE FROM concerto.workers WHERE id = %s AND NOT EXISTS "
                "(SELECT 1 FROM concerto.jobs WHERE worker = %s AND state = 'running')",
                (self.worker, self.worker),
            )
        self._connection.close()

    def _hold(self) -> None:
        try:
            while not self._over.is_set():
                if any(True for _ in self._connection.notifies(timeout=self._left(), stop_after=1)):
                    self._wake()
                if self._left() == 0:
                    began = monotonic()
                    if began - self._beat > _PATIENCE:
                        raise StoreError(f"nothing was heard of it for {began - self._beat:.0f} s")
                    self._say_that_it_lives()
                    self._beat = began
                    self._look_after_others()
                    self._tick()
                    self._wake()
        except (psycopg.Error, StoreError) as error:
            if not self._over.is_set():
                self._over.set()
                self._lost(" ".join(str(error).split()))

    def _watch(self) -> None:
        """See to it that nobody waits for a database that says nothing any more."""
        while not self._over.wait(_BEAT):
            if not self.is_held:
                self._over.set()
                self._lost("no heartbeat got through")
                break_off(self._connection)

    def _left(self) -> float:
        """Seconds to the next heartbeat."""
        return max(0.0, self._beat + _BEAT - monotonic())

    def _say_that_it_lives(self) -> None:
        held = self._connection.execute(
            "UPDATE concerto.workers SET seen = clock_timestamp() WHERE id = %s", (self.worker,)
        )
        if not held.rowcount:
            raise StoreError("another worker took over")

    def _look_after_others(self) -> None:
        others = self._connection.execute(
            "SELECT id, seen < clock_timestamp() - %s * interval '1 s', "
            f"NOT EXISTS (SELECT 1 FROM pg_locks WHERE {_HELD} AND objid = id) "
            "FROM concerto.workers WHERE id <> %s",
            (SILENT, LOCKS, self.worker),
        ).fetchall()
        for worker, is_silent, is_free in others:
            if is_silent or is_free:
                # One that was stopped in a transaction holds what the others need to take over.
                self._connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND application_name = %s",
                    (session_name(worker),),
                )
                taken = self._dispatcher.take_over(worker)
                if taken is not None:
                    self._told(taken)

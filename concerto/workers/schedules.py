"""Schedules: programs that are submitted again and again, by a cron expression in UTC.

A schedule keeps its program and options. What was missed while no worker was there is made up for once. One
whose last moment has come is over.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from time import time
from typing import TYPE_CHECKING

from croniter import CroniterBadDateError, croniter

from concerto.journal.databases import Transaction
from concerto.journal.rows import RunRow
from concerto.journal.settling import CannotResume
from concerto.journal.store import JournalStore, new_id
from concerto.json_data import Json
from concerto.records import record
from concerto.workers.dispatcher import AlreadySubmitted, Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher

if TYPE_CHECKING:
    from concerto.program import Program
    from concerto.runtime.run.options import RunOptions
    from concerto.stored_runs import RunStore


@record(frozen=True)
class Schedule:
    """When a program is submitted `next`."""

    id: str
    cron: str
    queue: str
    program: str
    next: datetime


class Schedules:
    """Those of a store."""

    def __init__(self, store: JournalStore, dispatcher: PostgresDispatcher) -> None:
        self._store = store
        self._dispatcher = dispatcher

    def add(self, runs: RunStore, program: Program, options: RunOptions, job: Job, cron: str) -> str:
        """The id of a schedule: the job's key, whose schedule it replaces, or a new one. Raises CannotResume
        for what is no cron expression."""
        if not croniter.is_valid(cron):
            raise CannotResume(f"`{cron}` is no cron expression, such as `*/5 * * * *` or `0 9 * * mon-fri`")
        if _next(cron, datetime.now(UTC)) is None:
            raise CannotResume(f"the moment `{cron}` never comes")
        row, schedule = runs.prepared(program, options), job.key or new_id()
        with self._dispatcher.transaction() as tables:
            tables.execute(
                "INSERT INTO schedules (id, cron, queue, priority, name, folder, options, ir, next) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET cron = excluded.cron, "
                "queue = excluded.queue, priority = excluded.priority, name = excluded.name, "
                "folder = excluded.folder, options = excluded.options, ir = excluded.ir, "
                "next = excluded.next",
                (
                    schedule, cron, job.queue, job.priority, row.name, row.folder, json.dumps(row.options),
                    zlib.compress(program.encoded), _next(cron, _now(tables)),
                ),
            )  # fmt: skip
        return schedule

    def submit_due(self) -> None:
        """Submit what is due, once each, whichever worker is first."""
        with self._dispatcher.transaction() as tables:
            due = tables.rows(
                "SELECT id, cron, queue, priority, name, folder, options, ir, next FROM schedules "
                "WHERE next <= clock_timestamp() FOR UPDATE SKIP LOCKED"
            )
            for schedule, cron, queue, priority, name, folder, options, ir, moment in due:
                # Where the clock was set back its moment comes again.
                with suppress(AlreadySubmitted), self._dispatcher.transaction():
                    self._submit(
                        schedule, queue, priority, name, folder, json.loads(options), bytes(ir), moment
                    )
                following = _next(cron, _now(tables))
                if following is None:
                    tables.execute("DELETE FROM schedules WHERE id = ?", (schedule,))
                else:
                    tables.execute("UPDATE schedules SET next = ? WHERE id = ?", (following, schedule))

    def _submit(
        self, schedule: str, queue: str, priority: int, name: str, folder: str, options: dict[str, Json],
        ir: bytes, moment: datetime,
    ) -> None:  # fmt: skip
        now = time()
        run = RunRow(
            new_id(),
            "",
            name,
            folder,
            "queued",
            "",
            1,
            now,
            now,
            options,
            os.urandom(32),
            f"schedule {schedule}",
        )
        self._store.begin(run, zlib.decompress(ir), durable=True)
        self._dispatcher.submit(Job(run.id, queue, priority, key=f"{schedule} at {moment.isoformat()}"))

    def all(self) -> list[Schedule]:
        with self._store.database.transaction(reading=True) as tables:
            rows = tables.rows("SELECT id, cron, queue, name, next FROM schedules ORDER BY next, id")
        return [Schedule(*row) for row in rows]

    def remove(self, schedule: str) -> bool:
        """Whether there was one."""
        with self._dispatcher.transaction() as tables:
            return bool(tables.execute("DELETE FROM schedules WHERE id = ?", (schedule,)))


def _now(tables: Transaction) -> datetime:
    moment: datetime = tables.rows("SELECT clock_timestamp()")[0][0]
    return moment.astimezone(UTC)


def _next(cron: str, now: datetime) -> datetime | None:
    """The first moment after one; None if there is none any more."""
    try:
        found: datetime = croniter(cron, now).get_next(datetime)
    except CroniterBadDateError:
        return None
    return found

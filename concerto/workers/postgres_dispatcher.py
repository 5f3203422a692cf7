"""A dispatcher in PostgreSQL: jobs are rows, taken with SKIP LOCKED, told of with NOTIFY."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from concerto.journal.databases import Database, StoreError, Transaction, is_server
from concerto.journal.rows import ENDED
from concerto.records import record
from concerto.workers.dispatcher import MOST_TRIES, AlreadySubmitted, Claimed, Job, QueueState
from concerto.workers.schema import TABLES

CHANNEL = "concerto_jobs"
_MAKING = 0x436F6E64
"""The lock under which tables are made."""
LOCKS = 0x436F6E65
"""The class of the locks that workers hold, each under its number."""
SILENT = 7
"""Seconds without a heartbeat after which a worker is taken for dead."""
_LIVES = f"seen > clock_timestamp() - {SILENT} * interval '1 s'"
DOUBTFUL = 2
"""After so many deaths a job is only taken by a worker that has no other such job: one that kills its worker
must not take others with it again and again."""


@record(frozen=True)
class TakenOver:
    """What became of the jobs of a worker whose lease is gone: it `died`, or its process began anew."""

    worker: str
    died: bool
    queued: list[str]
    given_up: list[str]


class PostgresDispatcher:
    """Implements `Dispatcher` in the database of a store."""

    def __init__(self, database: Database) -> None:
        if not is_server(database.url):
            raise StoreError("workers need a store in PostgreSQL: `--store postgresql://…`")
        self._database = database
        with self.transaction() as tables:
            if not tables.rows("SELECT to_regclass('concerto.schedules') IS NOT NULL")[0][0]:
                tables.execute("SELECT pg_advisory_xact_lock(?)", (_MAKING,))
                for statement in TABLES:
                    tables.execute(statement)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with self._database.transaction() as tables:
            yield tables

    def submit(self, job: Job) -> None:
        state = "delayed" if job.delay > 0 else "queued"
        with self.transaction() as tables:
            made = tables.execute(
                "INSERT INTO jobs (run, queue, priority, state, due, key) VALUES (?, ?, ?, ?, "
                "CASE WHEN ? > 0 THEN clock_timestamp() + ? * interval '1 s' END, ?) "
                "ON CONFLICT (key) DO NOTHING",
                (job.run, job.queue, job.priority, state, job.delay, job.delay, job.key),
            )
            if not made:
                raise AlreadySubmitted(tables.rows("SELECT run FROM jobs WHERE key = ?", (job.key,))[0][0])
            if state == "queued":
                _tell(tables, job.queue)

    def hold(self, run: str) -> bool:
        with self.transaction() as tables:
            return _locked(tables, run) is not None

    def claim(self, worker: int, queues: Sequence[str], most: int, *, doubtful: bool) -> list[Claimed]:
        taken: list[Claimed] = []
        for queue in queues:
            with self.transaction() as tables:
                room = min(most - len(taken), _room(tables, queue))
                if doubtful and room > 0:
                    doubted = _take(tables, worker, queue, f"tries >= {DOUBTFUL}", 1)
                    doubtful, room = not doubted, room - len(doubted)
                    taken += doubted
                if room > 0:
                    taken += _take(tables, worker, queue, f"tries < {DOUBTFUL}", room)
        return taken

    def park(self, run: str, worker: int, seconds: float | None) -> None:
        with self.transaction() as tables:
            queue = _locked(tables, run)
            # An answer may have come before there was something to wake, or a cancellation.
            [(status,)] = tables.rows("SELECT status FROM runs WHERE id = ?", (run,)) or [("failed",)]
            state = "queued" if status in ("queued", *ENDED) else "parked"
            tables.execute(
                "UPDATE jobs SET state = ?, tries = 0, due = clock_timestamp() + ? * interval '1 s' "
                "WHERE run = ? AND worker = ? AND state = 'running'",
                (state, seconds if state == "parked" else None, run, worker),
            )
            if state == "queued" and queue is not None:
                _tell(tables, queue)

    def wake(self, run: str) -> None:
        with self.transaction() as tables:
            queue = _locked(tables, run)
            awake = tables.execute(
                "UPDATE jobs SET state = 'queued', due = NULL WHERE run = ? AND state = 'parked'", (run,)
            )
            if awake and queue is not None:
                _tell(tables, queue)

    def release(self, run: str, worker: int, seconds: float = 0.0) -> None:
        with self.transaction() as tables:
            queue = _locked(tables, run)
            if _give_back(tables, run, worker, seconds) and queue is not None:
                tables.execute(
                    "UPDATE runs SET status = 'queued' WHERE id = ? AND status IN ('interrupted', 'running')",
                    (run,),
                )
                _tell(tables, queue)

    def postpone(self, run: str, worker: int, seconds: float) -> None:
        with self.transaction() as tables:
            _give_back(tables, run, worker, seconds)

    def end(self, run: str) -> None:
        with self.transaction() as tables:
            tables.execute("UPDATE jobs SET state = 'ended', due = NULL, tries = 0 WHERE run = ?", (run,))

    def forget(self, run: str) -> None:
        with self.transaction() as tables:
            tables.execute("DELETE FROM jobs WHERE run = ?", (run,))

    # -- For workers

    def promote(self) -> None:
        """Queue what was delayed or parked and is due."""
        with self.transaction() as tables:
            due = tables.rows(
                "UPDATE jobs SET state = 'queued', due = NULL WHERE run IN (SELECT run FROM jobs "
                "WHERE due <= clock_timestamp() ORDER BY due LIMIT 1000 FOR UPDATE SKIP LOCKED) "
                "RETURNING queue"
            )
            for queue in {row[0] for row in due}:
                _tell(tables, queue)

    def take_over(self, worker: int) -> TakenOver | None:
        """Queue again what a dead worker was doing, under its lock; None if it lives."""
        with self.transaction() as tables:
            if not tables.rows("SELECT pg_try_advisory_xact_lock(?, ?)", (LOCKS, worker))[0][0]:
                return None
            gone = tables.rows("DELETE FROM workers WHERE id = ? RETURNING name", (worker,))
            jobs = tables.rows(
                "SELECT run, queue, tries, jobs.effects, runs.effects, runs.status FROM jobs "
                "JOIN runs ON id = run WHERE worker = ? AND state = 'running' FOR UPDATE",
                (worker,),
            )
            name = gone[0][0] if gone else f"worker {worker}"
            died = not tables.rows("SELECT 1 FROM workers WHERE name = ? LIMIT 1", (name,))
            taken = TakenOver(name, died, [], [])
            for run, queue, tries, before, now, status in jobs:
                tries = (0 if now > before else tries) + died
                if tries > MOST_TRIES:
                    tables.execute("UPDATE jobs SET state = 'ended' WHERE run = ?", (run,))
                    continue
                if tries == MOST_TRIES and status not in ENDED:
                    _give_up(tables, run, tries)
                    taken.given_up.append(run)
                elif status not in ENDED:
                    taken.queued.append(run)
                # Of one that has ended there may be something left to tell.
                _queue_again(tables, run, tries)
                _tell(tables, queue)
            return taken

    # -- For people

    def queues(self) -> list[QueueState]:
        with self._database.transaction(reading=True) as tables:
            # A run that was cancelled while it was parked keeps its job until it is pruned.
            jobs = tables.rows(
                "SELECT queue, state, count(*) FROM jobs WHERE state <> 'ended' AND NOT (state = 'parked' "
                f"AND EXISTS (SELECT 1 FROM runs WHERE id = run AND status IN {ENDED})) GROUP BY queue, state"
            )
            workers = tables.rows(f"SELECT unnest(queues), count(*) FROM workers WHERE {_LIVES} GROUP BY 1")
            limits = tables.rows("SELECT name, most_running, most_starts, seconds FROM queues")
        served, limited = dict(workers), {row[0]: row[1:] for row in limits}
        found: dict[str, dict[str, int]] = {name: {} for name in (*served, *limited)}
        for queue, state, count in jobs:
            found.setdefault(queue, {})[state] = count
        return [
            QueueState(
                name,
                workers=served.get(name, 0),
                **dict(zip(("most_running", "most_starts", "seconds"), limited.get(name, ()), strict=False)),
                **counts,
            )
            for name, counts in sorted(found.items())
        ]

    def limit(self, queue: str, most_running: int | None, most_starts: int | None, seconds: float) -> None:
        """Let at most so many runs of a queue go on at a time, and so many begin in any so many seconds;
        None for no limit."""
        with self.transaction() as tables:
            tables.execute(
                "INSERT INTO queues (name, most_running, most_starts, seconds) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET most_running = excluded.most_running, "
                "most_starts = excluded.most_starts, seconds = excluded.seconds",
                (queue, most_running, most_starts, seconds),
            )
            _tell(tables, queue)

    def is_served(self, queue: str) -> bool:
        """Whether a worker takes jobs of a queue."""
        with self._database.transaction(reading=True) as tables:
            found = tables.rows(
                f"SELECT 1 FROM workers WHERE ? = ANY (queues) AND {_LIVES} LIMIT 1", (queue,)
            )
        return bool(found)


def unserved(database: Database) -> dict[str, str]:
    """The runs that wait for a worker where none serves their queue, each with that queue."""
    with database.transaction(reading=True) as tables:
        if not tables.rows("SELECT to_regclass('concerto.schedules') IS NOT NULL")[0][0]:
            return {}
        return dict(
            tables.rows(
                "SELECT run, queue FROM jobs WHERE state IN ('queued', 'delayed') AND queue NOT IN "
                f"(SELECT unnest(queues) FROM workers WHERE {_LIVES})"
            )
        )


def _tell(tables: Transaction, queue: str) -> None:
    tables.execute("SELECT pg_notify(?, ?)", (CHANNEL, queue))


def _locked(tables: Transaction, run: str) -> str | None:
    """Nobody else changes a job until the transaction ends; its queue."""
    rows = tables.rows("SELECT queue FROM jobs WHERE run = ? FOR UPDATE", (run,))
    return str(rows[0][0]) if rows else None


def _room(tables: Transaction, queue: str) -> int:
    """How many jobs of a queue may begin now. Where there are limits, one worker at a time asks."""
    limits = tables.rows(
        "SELECT most_running, most_starts, seconds FROM queues WHERE name = ? FOR UPDATE", (queue,)
    )
    room = 1_000_000
    for most_running, most_starts, seconds in limits:
        if most_running is not None:
            [(running,)] = tables.rows(
                "SELECT count(*) FROM jobs WHERE queue = ? AND state = 'running'", (queue,)
            )
            room = min(room, most_running - running)
        if most_starts is not None:
            [(started,)] = tables.rows(
                # Those that began later are from before the clock was set back.
                "SELECT count(*) FROM jobs WHERE queue = ? "
                "AND started BETWEEN clock_timestamp() - ? * interval '1 s' AND clock_timestamp()",
                (queue, seconds),
            )
            room = min(room, most_starts - started)
    return room


def _take(tables: Transaction, worker: int, queue: str, which: str, most: int) -> list[Claimed]:
    rows = tables.rows(
        "UPDATE jobs SET state = 'running', worker = ?, started = clock_timestamp(), "
        "effects = (SELECT effects FROM runs WHERE id = run) WHERE run IN ("
        f"SELECT run FROM jobs WHERE queue = ? AND state = 'queued' AND {which} "
        "ORDER BY priority DESC, number LIMIT ? FOR UPDATE SKIP LOCKED) "
        "RETURNING priority, number, run, tries",
        (worker, queue, most),
    )
    rows.sort(key=lambda row: (-row[0], row[1]))
    return [Claimed(run, tries >= DOUBTFUL) for _, _, run, tries in rows]


def _give_back(tables: Transaction, run: str, worker: int, seconds: float) -> int:
    """Whether the job was the worker's."""
    return tables.execute(
        "UPDATE jobs SET state = ?, due = CASE WHEN ? > 0 THEN clock_timestamp() + ? * interval '1 s' END "
        "WHERE run = ? AND worker = ? AND state = 'running'",
        ("delayed" if seconds else "queued", seconds, seconds, run, worker),
    )


def _queue_again(tables: Transaction, run: str, tries: int) -> None:
    # The epoch is another one: whatever the dead worker still writes is refused.
    tables.execute(
        "UPDATE runs SET epoch = epoch + 1, status = CASE WHEN status IN ('running', 'interrupted') "
        "THEN 'queued' ELSE status END WHERE id = ?",
        (run,),
    )
    tables.execute("UPDATE jobs SET state = 'queued', tries = ?, worker = 0 WHERE run = ?", (tries, run))


def _give_up(tables: Transaction, run: str, tries: int) -> None:
    said = f"given up after {tries} tries: each worker that went on with the run died"
    result = {"status": 1, "value": None, "error": said, "kind": "GivenUp"}
    tables.execute(
        "UPDATE runs SET epoch = epoch + 1, status = 'failed', result = ?, "
        "updated = extract(epoch FROM clock_timestamp()) WHERE id = ?",
        (json.dumps(result), run),
    )

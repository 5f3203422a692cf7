"""The store of runs: what is known of each run and its effects, in the tables of a database.

A run has one owner at a time. Whoever begins or goes on with it raises its epoch, and every later write holds
only if the epoch is still the same: a process that was given up for dead can do no harm.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

from concerto.journal.checking import check_effects, check_texts
from concerto.journal.databases import Database, Insert, StoreError, Transaction, check_address, is_server
from concerto.journal.rows import ENDED, EffectRow, RunRow
from concerto.records import replace


class NoSuchRun(StoreError):
    """The store has no run of this id."""


class NotOurs(Exception):
    """The run belongs to somebody else by now; `status` is what it has become."""

    def __init__(self, status: str) -> None:
        super().__init__(status)
        self.status = status


class Busy(StoreError):
    """A live process drives the run."""


_EFFECT_COLUMNS = (
    "key", "kind", "subject", "policy", "state", "attempt", "fingerprint", "request", "outcome", "begun_at",
    "ended_at", "steps_begun", "steps_ended", "begun", "ended", "place",
)  # fmt: skip
_EFFECTS = f"effects (run, {', '.join(_EFFECT_COLUMNS)})"
_EFFECT_AGAIN = "ON CONFLICT (run, key) DO UPDATE SET " + ", ".join(
    [f"{name} = excluded.{name}" for name in _EFFECT_COLUMNS[1:]]
)


_RUN_COLUMNS = (
    "id", "program", "name", "folder", "status", "owner", "epoch", "started", "updated", "seed", "origin",
    "said", "effects", "cost", "steps", "result",
)  # fmt: skip
_UNKNOWN_COST = -1.0
_DRIVEN: set[tuple[str, int]] = set()
"""Runs and epochs that this process goes on with. Of others that are its own it could not write the end."""
# Options may be long, and a run's row is written again at every effect.
_RUN = f"SELECT {', '.join(_RUN_COLUMNS)}, options FROM runs JOIN run_options ON run = id"
_LISTED = f"SELECT {', '.join(_RUN_COLUMNS)}, '{{}}' FROM runs"
_PUT_RUN = f"INSERT INTO runs ({', '.join(_RUN_COLUMNS)}) VALUES ({', '.join('?' * len(_RUN_COLUMNS))})"


class JournalStore:
    """All runs of a database. Everything raises StoreError where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def url(self) -> str:
        return self._database.url

    @property
    def database(self) -> Database:
        return self._database

    @property
    def in_memory(self) -> bool:
        return self.url == "sqlite::memory:"

    def now(self) -> float:
        """The time by the database's clock, which all machines share."""
        return time() + self._database.ahead

    def close(self) -> None:
        self._database.close()

    # -- One run

    def begin(self, run: RunRow, ir: bytes, *, durable: bool = False) -> int:
        """Keep a new run, with the program that it runs, as one of this process; its epoch. Its times are by
        this machine's clock."""
        program = sha256(ir).hexdigest()
        ahead = self._database.ahead
        times = {"started": run.started + ahead, "updated": run.updated + ahead}
        row = replace(run, program=program, owner=this_process(), epoch=1, **times)
        with self._database.transaction(durable=durable) as database:
            database.execute(
                "INSERT INTO programs (hash, ir) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (program, zlib.compress(ir, 1)),
            )
            database.execute(_PUT_RUN, _values(row))
            written = (row.id, json.dumps(row.options))
            database.execute("INSERT INTO run_options (run, options) VALUES (?, ?)", written)
        if row.status == "running":
            _DRIVEN.add((row.id, row.epoch))
        return row.epoch

    def claim(self, seen: RunRow) -> int:
        """Own a run from now on, if it is still as it was `seen`: its new epoch. Raises NoSuchRun, Busy."""
        with self._database.transaction() as database:
            epoch = self._change(database, seen, owner=this_process(), status="running", updated=self.now())
        _DRIVEN.add((seen.id, epoch))
        return epoch

    def write(
        self,
        run: str,
        epoch: int,
        rows: Iterable[EffectRow] = (),
        blobs: Mapping[str, bytes] | None = None,
        *,
        durable: bool,
        **changes: Any,
    ) -> None:
        """Write effects, the texts they need and changed columns of a run as one; raises NotOurs."""
        changes = _stored(changes)
        columns = "".join([f", {name} = ?" for name in changes])
        inserts = []
        if blobs:
            texts = [(run, name, data) for name, data in blobs.items()]
            inserts.append(Insert("blobs (run, hash, data)", texts, "ON CONFLICT DO NOTHING"))
        written = [(run, *[getattr(each, name) for name in _EFFECT_COLUMNS]) for each in rows]
        if written:
            inserts.append(Insert(_EFFECTS, written, _EFFECT_AGAIN))
        if not self._database.write_if(
            f"UPDATE runs SET updated = ?{columns} WHERE id = ? AND epoch = ?",
            (self.now(), *changes.values(), run, epoch),
            inserts,
            durable=durable,
        ):
            with self._database.transaction(reading=True) as database:
                found = database.rows("SELECT status FROM runs WHERE id = ?", (run,))
            raise NotOurs(found[0][0] if found else "pruned")
        if changes.get("status", "running") != "running":
            self.leave(run, epoch)

    def leave(self, run: str, epoch: int) -> None:
        """This process does not go on with a run any more, whether or not that could be written."""
        _DRIVEN.discard((run, epoch))

    def release(self, run: str, epoch: int) -> None:
        """Let a run that this process drove, and could not write, be anybody's. Raises NotOurs, and Busy if
        another drives it by now."""
        with self._database.transaction(reading=True) as database:
            owner = _one(database, run).owner
        if owner != this_process():
            raise Busy(f"run `{run}` is driven by another process ({owner})")
        self.write(run, epoch, durable=True, status="interrupted", owner="")

    def run(self, run: str) -> RunRow:
        """Raises NoSuchRun."""
        with self._database.transaction(reading=True) as database:
            found = _one(database, run)
        return self._seen(found)

    def effects(self, run: str, after: int = -1) -> list[EffectRow]:
        """The effects of a run, in the order in which they began; those that began or ended `after` a number,
        and those that have not ended."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                f"SELECT {', '.join(_EFFECT_COLUMNS)} FROM effects WHERE run = ? "
                "AND (begun_at > ? OR ended_at > ? OR ended_at = 0) ORDER BY begun_at, key",
                (run, after, after),
            )
        effects = [EffectRow(*row) for row in rows]
        check_effects(effects, f"the journal of run `{run}`")
        return effects

    def blobs(self, run: str) -> dict[str, bytes]:
        with self._database.transaction(reading=True) as database:
            found = dict(database.rows("SELECT hash, data FROM blobs WHERE run = ?", (run,)))
        check_texts(found, f"the journal of run `{run}`")
        return found

    def text(self, run: str, name: str) -> bytes:
        """One of the long texts of a run; raises KeyError."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT data FROM blobs WHERE run = ? AND hash = ?", (run, name))
        if not rows:
            raise KeyError(name)
        found = {name: bytes(rows[0][0])}
        check_texts(found, f"the journal of run `{run}`")
        return found[name]

    def program(self, program: str) -> bytes:
        """The IR of a program."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT ir FROM programs WHERE hash = ?", (program,))
        if not rows:
            raise StoreError(f"the store `{self.url}` has lost the program `{program}`")
        try:
            ir = zlib.decompress(bytes(rows[0][0]))
        except (zlib.error, TypeError):
            ir = b""
        if sha256(ir).hexdigest() != program:
            raise StoreError(f"the store `{self.url}` is damaged: program `{program}` is another one")
        return ir

    # -- All runs

    def runs(self, folder: Path | str | None = None, status: str | None = None) -> list[RunRow]:
        """The runs of a project's folder, or all, without their options; the newest first."""
        with self._database.transaction(reading=True) as database:
            if folder is None:
                rows = database.rows(f"{_LISTED} ORDER BY started DESC, id")
            else:
                rows = database.rows(f"{_LISTED} WHERE folder = ? ORDER BY started DESC, id", (str(folder),))
        found = [self._seen(_run_of(row)) for row in rows]
        return [each for each in found if status in (None, each.status)]

    def cancel(self, run: str) -> RunRow:
        """Cancel a run that has not ended, in another process at its next effect; what it was before."""
        with self._database.transaction() as database:
            found = _one(database, run)
            if found.status not in ENDED:
                database.execute(
                    "UPDATE runs SET status = 'cancelled', epoch = epoch + 1, updated = ? "
                    f"WHERE id = ? AND status NOT IN {ENDED}",
                    (self.now(), run),
                )
        return found

    def change_program(self, seen: RunRow, ir: bytes) -> None:
        """Let a run go on with another program, if it is still as it was `seen`. Raises as `claim` does."""
        program = sha256(ir).hexdigest()
        with self._database.transaction() as database:
            database.execute(
                "INSERT INTO programs (hash, ir) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (program, zlib.compress(ir, 1)),
            )
            self._change(database, seen, program=program)

    def prune(self, older: float) -> int:
        """Delete what ended more than so many seconds ago, really; how many runs."""
        with self._database.transaction() as database:
            rows = database.rows(
                # All, if the clock was set back meanwhile too.
                f"SELECT id FROM runs WHERE status IN {ENDED} AND updated <= ?",
                (self.now() - older if older else float("inf"),),
            )
            _delete(database, [row[0] for row in rows])
        if rows:
            self._database.compact()
        return len(rows)

    # -- Owners

    def _change(self, database: Transaction, seen: RunRow, **changes: Any) -> int:
        """Change a run that nobody drives under a new epoch, which is given."""
        run, found = seen.id, _one(database, seen.id)
        left = found.owner == this_process() and (run, found.epoch) not in _DRIVEN
        if found.status == "running" and not left and self._is_alive(found.owner):
            raise Busy(f"run `{run}` is driven by a live process ({found.owner})")
        columns = ", ".join([f"{name} = ?" for name in changes])
        # Whoever drove it may have done more since its effects were read.
        unchanged = (found.epoch, found.updated) == (seen.epoch, seen.updated)
        if not unchanged or not database.execute(
            f"UPDATE runs SET epoch = epoch + 1, {columns} WHERE id = ? AND epoch = ?",
            (*changes.values(), run, found.epoch),
        ):
            raise Busy(f"another process went on with run `{run}` meanwhile: it is {found.status}")
        return found.epoch + 1

    def _is_alive(self, owner: str) -> bool:
        if owner.rsplit(":", 2)[0] == socket.gethostname():
            return is_alive(owner)
        # Another machine's, or another container's: its processes are not seen from here.
        return self._database.is_held(owner)

    def _seen(self, run: RunRow) -> RunRow:
        """A run whose process has gone is interrupted."""
        gone = run.status == "running" and not self._is_alive(run.owner)
        return replace(run, status="interrupted") if gone else run


def new_id() -> str:
    """The id of a run."""
    return secrets.token_hex(6)


def open_database(url: str, *, create: bool = True) -> Database:
    """The database of `sqlite:PATH`, of a path, or of `postgresql://…`; as long as it is open it knows
    that this process lives. Raises StoreError."""
    if is_server(url):
        from concerto.journal.postgres_database import PostgresDatabase

        return PostgresDatabase(url, this_process())
    check_address(url)
    from concerto.journal.sqlite_database import SqliteDatabase

    return SqliteDatabase(Path(url.removeprefix("sqlite:")), create=create, owner=this_process())


def open_store(url: str, *, create: bool = True) -> JournalStore:
    """The store of `sqlite:PATH` or `postgresql://…`. Raises StoreError."""
    return JournalStore(open_database(url, create=create))


def this_process() -> str:
    """`HOST:PID:BEGIN`, as owner of a run."""
    return f"{socket.gethostname()}:{os.getpid()}:{_begin_of(os.getpid())}"


def is_alive(owner: str) -> bool:
    """Whether the process of an owner on this machine lives."""
    _, pid, begin = owner.rsplit(":", 2)
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        pass
    return _begin_of(int(pid)) in (begin, "")


def _begin_of(pid: int) -> str:
    return _cached_begin(pid) if pid == os.getpid() else _read_begin(pid)


@cache
def _cached_begin(pid: int) -> str:
    return _read_begin(pid)


def _read_begin(pid: int) -> str:
    """When a process began, in ticks of the kernel: ids of processes are used again. `ended` if it has, and
    only its parent has not noticed yet; empty where it cannot be known."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, *numbers = stat.rpartition(")")[2].split()
        return "ended" if state in ("Z", "X") else numbers[18]
    except (OSError, ValueError, IndexError):
        return ""


def _values(run: RunRow) -> tuple[Any, ...]:
    given = _stored({name: getattr(run, name) for name in _RUN_COLUMNS})
    return tuple(json.dumps(each) if isinstance(each, dict) else each for each in given.values())


def _stored(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a run as the database has them."""
    unknown = "cost" in columns and columns["cost"] is None
    return {**columns, "cost": _UNKNOWN_COST} if unknown else dict(columns)


def _run_of(row: Sequence[Any]) -> RunRow:
    given = dict(zip((*_RUN_COLUMNS, "options"), row, strict=True))
    try:
        given["options"] = dict(json.loads(given["options"]))
        given["result"] = dict(json.loads(given["result"] or "{}"))
        given["seed"] = bytes(given["seed"])
        for name in ("started", "updated", "cost"):
            given[name] = float(given[name])
        for name in ("epoch", "said", "effects"):
            given[name] = int(given[name])
        given["cost"] = None if given["cost"] == _UNKNOWN_COST else given["cost"]
    except (ValueError, TypeError):
        raise StoreError(f"what the store says of run `{given['id']}` is damaged") from None
    return RunRow(**given)


def _one(database: Transaction, run: str) -> RunRow:
    rows = database.rows(f"{_RUN} WHERE id = ?", (run,))
    if not rows:
        raise NoSuchRun(f"there is no run `{run}`")
    return _run_of(rows[0])


def _delete(database: Transaction, runs: Iterable[str]) -> None:
    for run in runs:
        for table, column in (
            ("effects", "run"),
            ("blobs", "run"),
            ("run_options", "run"),
            ("served_runs", "run"),
            ("events", "owner"),
            ("runs", "id"),
        ):
            database.execute(f"DELETE FROM {table} WHERE {column} = ?", (run,))
    database.execute("DELETE FROM programs WHERE hash NOT IN (SELECT program FROM runs)")

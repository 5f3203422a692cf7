"""Persistent hashmaps in SQLite databases: one transaction for each change.

A crash in the middle of a write loses at most that write. Keys and values are JSON texts; the order of
entries is that of their insertion. Every trouble is an FsError that names the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TypeAlias
from urllib.parse import quote

from concerto.effects.error_kinds import FsKind
from concerto.effects.permissions import Permissions
from concerto.vm.values import ErrorValue, Raised

Row: TypeAlias = tuple[str, str]
Change: TypeAlias = tuple[str, str | None]

_APPLICATION = 0x436F6E63
_VERSION = 1
_PATIENCE = 5.0
"""Seconds to wait for another process that is writing."""
_TRY_SECONDS = 0.05
"""How long one try waits."""
_PAUSE = 0.001
_PRIMARY = 0xFF
"""The part of SQLite's error codes that names the kind."""
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
COMMIT;
"""
_ALL = "SELECT key, value FROM entries ORDER BY rowid"
_ONE = "SELECT key, value FROM entries WHERE key = ?"
_SET = "INSERT INTO entries VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_HAS_ORIGINS = "SELECT 1 FROM sqlite_master WHERE name = 'origins'"
_ORIGINS = "SELECT origin FROM origins ORDER BY rowid"
_MAKE_ORIGINS = "CREATE TABLE IF NOT EXISTS origins (origin TEXT NOT NULL UNIQUE)"
_ADD_ORIGIN = "INSERT OR IGNORE INTO origins VALUES (?)"
_DELETE = "DELETE FROM entries WHERE key = ?"


class StoreFiles:
    """The open files of a run. `poll` is called while another process keeps one from being written, and
    raises what ends the run."""

    def __init__(self, permissions: Permissions, poll: Callable[[], None]) -> None:
        self._permissions = permissions
        self._poll = poll
        self._open: dict[Path, sqlite3.Connection] = {}

    def load(self, path: str, key: str | None = None) -> list[Row]:
        """All entries, the oldest first, or that of one key; a file that is not there is made."""
        with _troubles(path):
            connection = self._connection(path)
            return list(connection.execute(_ALL) if key is None else connection.execute(_ONE, (key,)))

    def origins(self, path: str) -> list[str]:
        """Where the untrusted part of the entries came from."""
        with _troubles(path):
            connection = self._connection(path)
            there = connection.execute(_HAS_ORIGINS).fetchone() is not None
            return [origin for (origin,) in connection.execute(_ORIGINS)] if there else []

    def save(
        self,
        path: str,
        changes: Sequence[Change],
        expected: Sequence[Change] = (),
        origins: Sequence[str] = (),
    ) -> bool:
        """Write changes as one, if the entries are as expected; None deletes, or is no entry. `origins` say
        where what is untrusted in them came from."""
        with _troubles(path):
            connection = self._connection(path)
            self._patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                for key, value in expected:
                    if connection.execute(_ONE, (key,)).fetchall() != (
                        [] if value is None else [(key, value)]
                    ):
                        connection.execute("ROLLBACK")
                        return False
                for key, value in changes:
                    if value is None:
                        connection.execute(_DELETE, (key,))
                    else:
                        connection.execute(_SET, (key, value))
                if origins:
                    connection.execute(_MAKE_ORIGINS)
                    connection.executemany(_ADD_ORIGIN, [(origin,) for origin in origins])
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return True

    def _patiently(self, change: Callable[[], object]) -> None:
        """Do what nobody else may be doing at the same time, when nobody is."""
        patience = monotonic() + _PATIENCE
        while True:
            try:
                change()
                return
            except sqlite3.OperationalError as error:
                # Some of these are raised without waiting, where two would wait for each other.
                busy = error.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY
                if not busy or monotonic() > patience:
                    raise
            self._poll()
            sleep(_PAUSE)

    def close(self) -> None:
        opened, self._open = self._open, {}
        for connection in opened.values():
            connection.close()

    def _connection(self, path: str) -> sqlite3.Connection:
        place = self._permissions.place(path, writing=True)
        if place is None:
            raise _failure(path, "outside of the permitted folders", FsKind.PERMISSION_DENIED)
        real = place[0] / place[1]
        found = self._open.get(real)
        if found is None:
            found = self._open[real] = self._opened(real, path)
        return found

    def _opened(self, real: Path, path: str) -> sqlite3.Connection:
        connection = _connected(real, path)
        try:
            self._patiently(lambda: _made(connection))
            _check(connection, path)
            # In WAL mode with FULL every commit is on the disk before the program goes on.
            connection.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection


def _connected(real: Path, path: str) -> sqlite3.Connection:
    if real.is_dir():
        raise _failure(path, "it is a folder", FsKind.BAD_FILE)
    if not real.parent.is_dir():
        raise _failure(path, "its folder is not there", FsKind.IO_ERROR)
    # Where nothing can be written, not even a lock, a file can still be read.
    mode = "rwc" if os.access(real.parent, os.W_OK) or not real.exists() else "ro&immutable=1"
    place = f"file:{quote(str(real))}?mode={mode}"
    return sqlite3.connect(place, uri=True, timeout=_TRY_SECONDS, isolation_level=None)


def _made(connection: sqlite3.Connection) -> None:
    """Make the table. Another run may be making it now: a file that is begun has a size before it has one."""
    if connection.in_transaction:  # A try before this one broke off.
        connection.execute("ROLLBACK")
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)


def _check(connection: sqlite3.Connection, path: str) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != _APPLICATION:
        raise _failure(path, "it is another program's database, no hashmap's file", FsKind.BAD_FILE)
    if version > _VERSION:
        raise _failure(path, "it was written by a newer version of this program", FsKind.BAD_FILE)


@contextmanager
def _troubles(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        kind = FsKind.PERMISSION_DENIED if "readonly" in str(error) else FsKind.IO_ERROR
        raise _failure(path, str(error), kind) from None
    except sqlite3.DatabaseError as error:
        raise _failure(path, f"it is no hashmap's file, or a broken one: {error}", FsKind.BAD_FILE) from None
    except OSError as error:
        raise _failure(path, (error.strerror or str(error)).lower(), FsKind.IO_ERROR) from None


def _failure(path: str, why: str, kind: FsKind) -> Raised:
    return Raised(ErrorValue("FsError", f"`{path}`: {why}", kind.value, path=path))

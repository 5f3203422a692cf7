"""A store in a file, through SQLite."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from concerto.files import PRIVATE
from concerto.journal.databases import Insert, Row, StoreError, Transaction, migrate, write_if
from concerto.journal.owner_locks import OwnerLocks
from concerto.journal.schema import VERSION

_APPLICATION = 0x436F6E63
"""`Conc`, in the header of an SQLite file: whose it is."""
_MEMORY = ":memory:"
_PATIENCE = 30.0
"""Seconds to wait for other writers."""


class _SqliteTransaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        return self._connection.execute(statement, values).rowcount

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(statement, values).fetchall()


_SQLITE_WORDS = {"BYTES": "BLOB", "REAL8": "REAL", "COMPACT": "WITHOUT ROWID"}


class SqliteDatabase:
    """A file, with a log of what was written last (WAL) beside it."""

    ahead = 0.0

    def __init__(self, path: Path, *, create: bool = True, owner: str = "") -> None:
        self.path = path if str(path) == _MEMORY else path.expanduser().absolute()
        self.url = f"sqlite:{self.path}"
        self._lock = threading.RLock()
        self._durable = True
        self._owners: OwnerLocks | None = None
        with self._store_errors():
            self._connection = self._open(create)
        try:
            with self._store_errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise
        if owner and str(self.path) != _MEMORY:
            with suppress(OSError):  # Where it cannot be, nothing else can be written either.
                self._owners = OwnerLocks(self.path)
                self._owners.hold(owner)

    def _open(self, create: bool) -> sqlite3.Connection:
        if create and str(self.path) != _MEMORY:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Made by us, so that it is private from its first byte.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
        elif not create and not self.path.exists():
            raise StoreError(f"there is no store `{self.path}`")
        return sqlite3.connect(
            self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=64
        )

    def _prepare(self) -> None:
        connection = self._connection
        # In one transaction: somebody else may be making it.
        with self.transaction(reading=True) as database:
            [(application,)] = database.rows("PRAGMA application_id")
            [(version,)] = database.rows("PRAGMA user_version")
            [(tables,)] = database.rows("SELECT count(*) FROM sqlite_master")
        if application != _APPLICATION and (application or version or tables):
            raise StoreError(f"`{self.path}` is a database of something else, not a store of runs")
        connection.execute("PRAGMA foreign_keys = ON")
        if version != VERSION or application != _APPLICATION:
            self._keep_log()
            with self.transaction() as database:
                # Another process may have been faster.
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if migrate(database, version, _SQLITE_WORDS, f"`{self.path}`"):
                    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                    connection.execute(f"PRAGMA user_version = {VERSION}")

    def _keep_log(self) -> None:
        """Switch to WAL. Of two who do so at once SQLite tells one at once that the file is locked."""
        patience = monotonic() + _PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or monotonic() > patience:
                    raise
            sleep(0.001)

    @contextmanager
    def transaction(
        self, *, durable: bool = True, reading: bool = False, alone: str = ""
    ) -> Iterator[Transaction]:
        # All that write are alone here.
        with self._lock, self._store_errors():
            if durable is not self._durable:
                self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            self._connection.execute("BEGIN" if reading else "BEGIN IMMEDIATE")
            try:
                yield _SqliteTransaction(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk has undone it already.
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def write_if(
        self, update: str, values: Sequence[Any], inserts: Sequence[Insert], *, durable: bool
    ) -> bool:
        return write_if(self, update, values, inserts, durable=durable)

    def is_held(self, owner: str) -> bool:
        try:
            with closing(OwnerLocks(self.path)) as owners:
                return owners.is_held(owner)
        except OSError:
            return True

    def compact(self) -> None:
        with self._lock, self._store_errors():
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            if self._owners is not None:
                self._owners.close()
                self._owners = None

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(f"the store `{self.path}` cannot be used: {error}") from error
        except OSError as error:
            raise StoreError(
                f"the store `{self.path}` cannot be used: {(error.strerror or str(error)).lower()}"
            ) from error

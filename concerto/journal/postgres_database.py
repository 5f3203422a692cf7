"""A store in PostgreSQL, through psycopg 3."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from socket import SHUT_RDWR, socket
from time import monotonic, time
from typing import Any

from concerto.journal.databases import Insert, Row, StoreError, Transaction, migrate, write_if
from concerto.redaction import without_user

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise StoreError(
        "a store in PostgreSQL needs the extra `postgres`: pip install 'concerto-lang[postgres]'"
    ) from None

# Where nobody listens to it, `logging` would write its troubles to standard error; each is a StoreError too.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

_WORDS = {"BYTES": "BYTEA", "REAL8": "DOUBLE PRECISION", "COMPACT": ""}
_MIGRATING = 0x436F6E63
"""The lock under which tables are made."""
_ALONE = 0x436F6E66
"""The class of the locks under which transactions are alone."""


_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""How soon it is known that a server is gone, unless the address says otherwise."""


def connect(url: str, name: str = "") -> psycopg.Connection[Row]:
    """A connection to the server of a store, which knows it by a name. Raises `psycopg.Error`."""
    wanted = {**_PATIENCE, **conninfo_to_dict(url), **({"application_name": name} if name else {})}
    return psycopg.connect(make_conninfo(url, **wanted), autocommit=True)


def be_known_as(connection: psycopg.Connection[Row], name: str) -> None:
    connection.execute("SELECT set_config('application_name', %s, false)", (name,))


def _name_of(owner: str) -> str:
    """What the server knows the connections of an owner of runs by; it takes 63 bytes."""
    return f"concerto {sha256(owner.encode()).hexdigest()[:32]}"


def break_off(connection: psycopg.Connection[Row]) -> None:
    """Let a thread that waits for the server fail now."""
    with suppress(psycopg.Error, OSError), socket(fileno=os.dup(connection.fileno())) as ours:
        ours.shutdown(SHUT_RDWR)


class _PostgresTransaction:
    def __init__(self, connection: psycopg.Connection[Row], pipeline: psycopg.Pipeline) -> None:
        self._connection = connection
        self._pipeline = pipeline

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        cursor = self._connection.execute(_placed(statement), _given(values))
        self._pipeline.sync()
        return cursor.rowcount

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_placed(statement), [_given(row) for row in rows])

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        found = self._connection.execute(_placed(statement), _given(values))
        return [_found(row) for row in found]


class PostgresDatabase:
    """A database in a server; the tables stand in the schema `concerto`."""

    def __init__(self, url: str, owner: str = "") -> None:
        self.url = url
        self._shown = without_user(url)
        self._lock = threading.RLock()
        self._depth, self._is_closed, self._name = 0, False, _name_of(owner) if owner else ""
        with self._store_errors():
            self._connection = connect(url, self._name)
        try:
            with self._store_errors():
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self.transaction() as database:
            database.execute("SELECT pg_advisory_xact_lock(?)", (_MIGRATING,))
            database.execute("CREATE SCHEMA IF NOT EXISTS concerto")
            database.execute("SET search_path TO concerto")
            now = float(database.rows("SELECT extract(epoch FROM clock_timestamp())")[0][0])
            self._began = now - monotonic()  # This machine's clock may be set.
            database.execute("CREATE TABLE IF NOT EXISTS version (number INT NOT NULL)")
            rows = database.rows("SELECT number FROM version")
            if migrate(database, rows[0][0] if rows else 0, _WORDS, f"the store `{self._shown}`"):
                from concerto.journal.schema import VERSION

                database.execute("DELETE FROM version")
                database.execute("INSERT INTO version VALUES (?)", (VERSION,))

    @property
    def ahead(self) -> float:
        return self._began + monotonic() - time()

    @contextmanager
    def transaction(
        self, *, durable: bool = True, reading: bool = False, alone: str = ""
    ) -> Iterator[Transaction]:
        with self._connected() as connection:
            self._depth += 1
            try:
                # What needs no answer goes to the server together with what follows.
                with connection.pipeline() as pipeline, connection.transaction():
                    if not durable and not reading:
                        connection.execute("SET LOCAL synchronous_commit = off")
                    if alone:
                        connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_ALONE, alone))
                    yield _PostgresTransaction(connection, pipeline)
            finally:
                self._depth -= 1

    def write_if(
        self, update: str, values: Sequence[Any], inserts: Sequence[Insert], *, durable: bool
    ) -> bool:
        if any(len(each.rows) > 1 for each in inserts):
            return write_if(self, update, values, inserts, durable=durable)
        # One statement is a transaction of its own and one message to the server and back.
        mode = "" if durable else ", set_config('synchronous_commit', 'off', true)"
        parts = [f"held AS ({update} RETURNING 1{mode})"]
        for number, each in enumerate(inserts):
            parts.append(f"part{number} AS ({each.statement('SELECT {} FROM held')})")
            values = [*values, *each.rows[0]]
        with self._connected() as connection:
            return bool(
                connection.execute(
                    _placed(f"WITH {', '.join(parts)} SELECT FROM held"), _given(values)
                ).rowcount
            )

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Row]]:
        """Its connection, for one at a time; a new one after the server was gone."""
        with self._lock, self._store_errors():
            if self._connection.closed and not self._depth and not self._is_closed:
                self._connection = connect(self.url, self._name)
                self._connection.execute("SET search_path TO concerto")
            yield self._connection

    def be_known_as(self, name: str) -> None:
        """What the server knows its connections by, so that others can end them."""
        self._name = name
        with self._connected() as connection:
            be_known_as(connection, name)

    def is_held(self, owner: str) -> bool:
        with self.transaction(reading=True) as database:
            sessions = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            if database.rows(f"{sessions} AND application_name = ?", (_name_of(owner),)):
                return True
            if not database.rows("SELECT to_regclass('concerto.workers') IS NOT NULL")[0][0]:
                return False
            return bool(database.rows("SELECT 1 FROM workers WHERE name = ?", (owner,)))

    def compact(self) -> None:
        with self._lock, self._store_errors():
            for table in ("runs", "run_options", "effects", "blobs", "programs"):
                self._connection.execute(f"VACUUM FULL concerto.{table}")

    def break_off(self) -> None:
        """Let whatever waits for the server fail now, from any thread, and what is asked later too."""
        self._is_closed = True
        break_off(self._connection)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._connection.close()

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise StoreError(f"the store `{self._shown}` cannot be used: {said}") from error


def _placed(statement: str) -> Any:
    return statement.replace("%", "%%").replace("?", "%s")


# Texts of the database hold no NUL, those of programs may: it is written behind a character that is none.
_ESCAPE = "\uffff"


def _given(values: Sequence[Any]) -> Sequence[Any]:
    return [
        each.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")
        if isinstance(each, str) and ("\0" in each or _ESCAPE in each)
        else each
        for each in values
    ]


def _found(row: Row) -> Row:
    if not any(isinstance(each, str) and _ESCAPE in each for each in row):
        return row
    return tuple(
        each.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE) if isinstance(each, str) else each
        for each in row
    )

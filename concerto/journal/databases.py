"""The databases that a store may be kept in: transactions and queries, and nothing of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from concerto.journal.schema import MIGRATIONS, VERSION
from concerto.records import record

Row: TypeAlias = tuple[Any, ...]


class StoreError(Exception):
    """The store cannot be opened, read or written; the text says which and why."""


class Transaction(Protocol):
    """Statements that hold together."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """How many rows it concerned. A place for a value is written `?`."""

    def execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None: ...

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]: ...


@record
class Insert:
    """Rows for a table, `into` with its columns; `conflict` says what becomes of those that are there."""

    into: str
    rows: Sequence[Sequence[Any]]
    conflict: str

    def statement(self, source: str = "VALUES ({})") -> str:
        """For one row, of which the values stand in `source`."""
        values = ", ".join("?" * len(self.rows[0]))
        return f"INSERT INTO {self.into} {source.format(values)} {self.conflict}"


class Database(Protocol):
    """One database; its connection may be used by any thread, by one at a time."""

    url: str

    @property
    def ahead(self) -> float:
        """Seconds by which its clock is ahead of this machine's."""

    def transaction(self, *, durable: bool = True, reading: bool = False, alone: str = "") -> Any:
        """A context manager that gives a Transaction: kept at its end, undone if it fails. One that is not
        `durable` may be lost when the power fails, not when the process does. One that is only `reading`
        keeps nobody waiting; of those with the same text in `alone` each sees what the one before it wrote.
        Raises StoreError."""

    def write_if(
        self, update: str, values: Sequence[Any], inserts: Sequence[Insert], *, durable: bool
    ) -> bool:
        """Write an update with what belongs to it as one, if it concerns a row: whether it did."""

    def is_held(self, owner: str) -> bool:
        """Whether a process of another machine, or another container, has it open, and so lives; true where
        nobody can tell."""

    def compact(self) -> None:
        """Give back the room of what was deleted, so that nothing of it is left in the files."""

    def close(self) -> None: ...


def write_if(
    database: Database, update: str, values: Sequence[Any], inserts: Sequence[Insert], *, durable: bool
) -> bool:
    """`Database.write_if` in a transaction, for any number of rows."""
    with database.transaction(durable=durable) as transaction:
        if not transaction.execute(update, values):
            return False
        for each in inserts:
            transaction.execute_many(each.statement(), each.rows)
        return True


def spelled(statement: str, words: Mapping[str, str]) -> str:
    """A statement of the schema in a database's own words."""
    for word, own in words.items():
        statement = statement.replace(word, own)
    return statement


def migrate(database: Transaction, found: int, words: Mapping[str, str], where: str) -> bool:
    """Bring tables of the version `found` (0 for none) up to date; whether there was anything to do."""
    if found > VERSION:
        raise StoreError(f"{where} was written by a newer Concerto: its tables are of version {found}")
    for version in range(found, VERSION):
        for statement in MIGRATIONS[version]:
            database.execute(spelled(statement, words))
    return found < VERSION


def is_server(url: str) -> bool:
    """Whether the address of a store is one that many machines can reach."""
    return url.startswith(("postgresql://", "postgres://"))


def check_address(url: str) -> None:
    """Raise a StoreError for what addresses no store."""
    scheme, colon, rest = url.partition(":")
    is_scheme = len(scheme) > 1 and (scheme.isalpha() or rest.startswith("//"))
    if colon and is_scheme and scheme != "sqlite" and not is_server(url):
        raise StoreError(f"`{url}` is no store; expected `sqlite:PATH` or `postgresql://…`")

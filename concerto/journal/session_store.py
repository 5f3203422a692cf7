"""Table of sessions: conversations that last, as rows of turns in the database of a store."""

from __future__ import annotations

from concerto.journal.databases import Database, Transaction

_ANY = 2**62
_LAST = "SELECT coalesce(max(number), 0) FROM session_turns WHERE session = ?"


class SessionStore:
    """All sessions of a store. Several processes may add to one: each turn is whole, and none is lost.
    Everything raises StoreError where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, session: str) -> list[list[int | str]]:
        """The turns, oldest first, each with its number."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                "SELECT number, turn FROM session_turns WHERE session = ? ORDER BY number", (session,)
            )
        return [[number, turn] for number, turn in rows]

    def add(self, session: str, key: str, turn: str) -> bool:
        """Add a turn at the end. One of the same `key` is there already if this is done a second time."""
        with self._database.transaction(alone=session) as database:
            self._insert(database, session, self._last(database, session) + 1, key, turn)
        return True

    def replace(self, session: str, numbers: list[int], key: str, turn: str | None) -> bool:
        """Put one turn, or none, in the place of those with these numbers, if all of them are still there."""
        with self._database.transaction(alone=session) as database:
            done = database.rows("SELECT 1 FROM session_turns WHERE session = ? AND key = ?", (session, key))
            if done:
                return True
            held = database.rows(
                "SELECT number FROM session_turns WHERE session = ? AND number <= ?",
                (session, numbers[-1] if numbers else _ANY),
            )
            if sorted(number for (number,) in held) != numbers:
                return False
            for number in numbers:
                database.execute(
                    "DELETE FROM session_turns WHERE session = ? AND number = ?", (session, number)
                )
            if turn is not None:
                last = numbers[-1] if numbers else self._last(database, session) + 1
                self._insert(database, session, last, key, turn)
        return True

    def _last(self, database: Transaction, session: str) -> int:
        return int(database.rows(_LAST, (session,))[0][0])

    def _insert(self, database: Transaction, session: str, number: int, key: str, turn: str) -> None:
        database.execute(
            "INSERT INTO session_turns (session, number, key, turn) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (session, number, key, turn),
        )

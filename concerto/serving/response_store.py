"""The responses that a store keeps, and the numbered events of what goes on in the background."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from time import time
from typing import Any

from concerto.journal.databases import Database
from concerto.journal.events import add_events, is_served, write_events
from concerto.json_data import Json
from concerto.records import record
from concerto.runtime.llm.requests import Message
from concerto.runtime.llm.stored_messages import messages_from_json, messages_json

_COLUMNS = (
    "id",
    "caller",
    "previous",
    "created",
    "status",
    "request",
    "input",
    "messages",
    "response",
    "run",
    "states",
)
_UNFINISHED = f"SELECT {', '.join(_COLUMNS)} FROM responses WHERE status IN ('queued', 'in_progress')"


@record
class StoredResponse:
    """A response. `request` is the body that asked for it, `input` its items; `messages` are those of its
    input and what was said after them; `response` is what clients are shown."""

    id: str
    caller: str
    previous: str
    status: str
    request: dict[str, Json]
    input: list[Json]
    messages: list[Message]
    response: dict[str, Json]
    created: float = 0.0
    run: str = ""
    """that works for it, of one in the background"""
    states: str = ""
    """of the program, from which the next response goes on: first those that it went on from itself"""


class ResponseStore:
    """All responses of a store. Each caller sees its own. Everything raises StoreError where the database
    fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, stored: StoredResponse) -> None:
        stored.created = stored.created or time()
        with self._database.transaction(durable=False) as database:
            database.execute(
                f"INSERT INTO responses ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})",
                _values(stored),
            )

    def end(self, stored: StoredResponse, number: int = 0, events: Iterable[str] = ()) -> bool:
        """Write what a response has become, and its last events, from a number on; whether it was there and
        had not ended before."""
        with self._database.transaction() as database:
            ended = database.execute(
                "UPDATE responses SET status = ?, messages = ?, response = ?, states = ? "
                "WHERE id = ? AND status IN ('queued', 'in_progress')",
                (
                    stored.status,
                    json.dumps(messages_json(stored.messages)),
                    json.dumps(stored.response),
                    stored.states,
                    stored.id,
                ),
            )
            if ended:
                write_events(database, stored.id, number, events)
        return bool(ended)

    def get(self, response: str, caller: str) -> StoredResponse | None:
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                f"SELECT {', '.join(_COLUMNS)} FROM responses WHERE id = ? AND caller = ?", (response, caller)
            )
        return _read(rows[0]) if rows else None

    def continuations(self, response: str, caller: str) -> list[StoredResponse]:
        """Those that go on, or went on, from a response."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                f"SELECT {', '.join(_COLUMNS)} FROM responses WHERE previous = ? AND caller = ? "
                "AND status NOT IN ('failed', 'cancelled')",
                (response, caller),
            )
        return [_read(row) for row in rows]

    def is_over(self, response: str) -> bool:
        """Whether a response has ended, or is not there any more."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT status FROM responses WHERE id = ?", (response,))
        return not rows or rows[0][0] not in ("queued", "in_progress")

    def unfinished(self) -> list[StoredResponse]:
        """The responses that some process has begun and not ended."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(f"{_UNFINISHED} ORDER BY created")
        return [_read(row) for row in rows]

    def unfinished_of(self, run: str) -> StoredResponse | None:
        """The one that a run works for."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(f"{_UNFINISHED} AND run = ?", (run,))
        return _read(rows[0]) if rows else None

    def delete(self, response: str, caller: str) -> bool:
        """Whether there was such a response."""
        with self._database.transaction() as database:
            found = database.execute("DELETE FROM responses WHERE id = ? AND caller = ?", (response, caller))
            if found:
                database.execute("DELETE FROM events WHERE owner = ?", (response,))
        return bool(found)

    def add_run(self, run: str, caller: str) -> None:
        """Note that a caller has begun a run."""
        with self._database.transaction() as database:
            database.execute("INSERT INTO served_runs (run, caller) VALUES (?, ?)", (run, caller))

    def running(self) -> list[str]:
        """The served runs that some process drives, or drove when it ended."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT run FROM served_runs JOIN runs ON id = run WHERE status = 'running'")
        return [run for (run,) in rows]

    def is_run(self, run: str) -> bool:
        """Whether a caller has begun a run by itself."""
        return is_served(self._database, run)

    def is_of(self, run: str, caller: str) -> bool:
        """Whether a run was begun by a caller."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows("SELECT 1 FROM served_runs WHERE run = ? AND caller = ?", (run, caller))
        return bool(rows)

    def add_events(self, owner: str, number: int, events: Iterable[str]) -> None:
        """Keep the events of an owner from a number on. One that is there already stays as it is."""
        add_events(self._database, owner, number, events)

    def events(self, owner: str, after: int, most: int = 1000) -> list[tuple[int, str]]:
        """The events of an owner behind a number, with their numbers."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                "SELECT number, event FROM events WHERE owner = ? AND number > ? ORDER BY number LIMIT ?",
                (owner, after, most),
            )
        return [(number, event) for number, event in rows]

    def last_event(self, owner: str) -> tuple[int, str]:
        """The last event of an owner so far, with its number; 0 and one of no channel if there is none."""
        with self._database.transaction(reading=True) as database:
            rows = database.rows(
                "SELECT number, event FROM events WHERE owner = ? ORDER BY number DESC LIMIT 1", (owner,)
            )
        return (rows[0][0], rows[0][1]) if rows else (0, '{"channel": ""}')


def _values(stored: StoredResponse) -> tuple[Any, ...]:
    return (
        stored.id,
        stored.caller,
        stored.previous,
        stored.created,
        stored.status,
        json.dumps(stored.request),
        json.dumps(stored.input),
        json.dumps(messages_json(stored.messages)),
        json.dumps(stored.response),
        stored.run,
        stored.states,
    )


def _read(row: Sequence[Any]) -> StoredResponse:
    id_, caller, previous, created, status, request, given, messages, response, run, states = row
    return StoredResponse(
        id_,
        caller,
        previous,
        status,
        json.loads(request),
        json.loads(given),
        messages_from_json(json.loads(messages)),
        json.loads(response),
        created,
        run,
        states,
    )

"""The numbered events of what goes on for clients, who read them from any number on."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.journal.databases import Database, Transaction


def is_served(database: Database, run: str) -> bool:
    """Whether a client has begun a run by itself, and may read its events."""
    with database.transaction(reading=True) as tables:
        return bool(tables.rows("SELECT 1 FROM served_runs WHERE run = ?", (run,)))


def add_events(database: Database, owner: str, number: int, events: Iterable[str]) -> None:
    """Keep the events of an owner from a number on. One that is there already stays as it is."""
    with database.transaction(durable=False) as tables:
        write_events(tables, owner, number, events)


def write_events(tables: Transaction, owner: str, number: int, events: Iterable[str]) -> None:
    """As `add_events`, in a transaction of the caller's."""
    tables.execute_many(
        "INSERT INTO events (owner, number, event) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(owner, place, event) for place, event in enumerate(events, number)],
    )

"""The names of effects."""

from __future__ import annotations

from concerto.records import record


@record(frozen=True)
class Identity:
    """An effect's stable name inside a run: the numbers of the branches that lead to it, and its own."""

    path: tuple[int, ...]
    number: int

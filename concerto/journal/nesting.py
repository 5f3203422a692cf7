"""Nesting of effects: the execution, stage or call of a tool that each was a part of when it began."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.journal.rows import EffectRow


def as_begun(rows: Iterable[EffectRow]) -> list[EffectRow]:
    """Effects in the order in which they began; what has not begun waits inside of what has not ended."""
    return sorted(rows, key=lambda row: row.begun_at or float("inf"))


class Nesting:
    """Takes the effects of a run in the order in which they began; what is made of others may come again,
    with its end."""

    def __init__(self) -> None:
        self._around: dict[str, list[EffectRow]] = {}
        self._made_of_others: dict[str, EffectRow] = {}

    def parent_of(self, row: EffectRow) -> EffectRow | None:
        """The innermost effect that was under way, here or in a branch above, when this one began."""
        branch = row.key.partition("/")[0]
        parent = self._innermost(branch, row.begun_at)
        if row.policy == "inside":
            self._around.setdefault(branch, []).append(row)
            self._made_of_others[row.key] = row
        return parent

    def again(self, row: EffectRow) -> None:
        """More is known of an effect that was taken before."""
        if row.policy == "inside":
            self._made_of_others[row.key].ended_at = row.ended_at

    def _innermost(self, branch: str, begun_at: int) -> EffectRow | None:
        while branch:
            around = self._around.get(branch, [])
            # What has ended is around nothing that begins later.
            while around and around[-1].ended_at and (not begun_at or around[-1].ended_at < begun_at):
                around.pop()
            if around:
                return around[-1]
            branch = branch.rpartition(".")[0]
        return None

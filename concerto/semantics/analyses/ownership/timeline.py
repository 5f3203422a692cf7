"""When the locals of a body are looked at and changed: its events by position."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from concerto.semantics.analyses.ownership.events import NEVER, BodyEvents, Moment, Region
from concerto.semantics.model.symbols import LocalSymbol

_POSITION: Final = itemgetter(0)


class Timeline:
    """Each local is looked through when it is first asked for. Loops are by how many are around them."""

    def __init__(self, body: BodyEvents) -> None:
        self._body = body
        self._uses: dict[LocalSymbol, list[Moment]] = {}
        self._changes: dict[LocalSymbol, list[Moment]] = {}
        self._latest: dict[LocalSymbol, list[int]] = {}
        self._last_reads: dict[LocalSymbol, dict[str | None, int]] = {}
        self._loops: list[list[Region]] | None = None

    def uses(self, local: LocalSymbol, first: int, end: int = NEVER) -> Sequence[Moment]:
        """Those in a region."""
        if local not in self._uses:
            self._uses[local] = sorted(self._body.uses.get(local, ()), key=_POSITION)
        return _between(self._uses[local], first, end)

    def changes(self, local: LocalSymbol, first: int, end: int = NEVER) -> Sequence[Moment]:
        """Those that begin in a region."""
        if local not in self._changes:
            self._changes[local] = sorted(self._body.changes.get(local, ()), key=_POSITION)
        return _between(self._changes[local], first, end)

    def changed_at(self, local: LocalSymbol, position: int) -> int:
        """When a change that begins at the position happens."""
        return self._body.changed_at.get((local, position), position)

    def changes_after(self, local: LocalSymbol, position: int, end: int = NEVER) -> Iterator[Moment]:
        """Those that happen at the position or later, and begin before the end."""
        yield from self.changes(local, position, end)
        if local not in self._latest:
            latest, before = 0, []
            for at, _ in self.changes(local, 0):
                latest = max(latest, self.changed_at(local, at))
                before.append(latest)
            self._latest[local] = before
        number = bisect_left(self._changes[local], position, key=_POSITION) - 1
        while number >= 0 and self._latest[local][number] >= position:
            change = self._changes[local][number]
            if self.changed_at(local, change[0]) >= position:
                yield change
            number -= 1

    def last_reads(self, local: LocalSymbol) -> dict[str | None, int]:
        """Where the local is last looked at, by the field of it that is read; None for all else."""
        found = self._last_reads.get(local)
        if found is None:
            found = self._last_reads[local] = {}
            for at, _ in self._body.uses.get(local, ()):
                name = self._body.read_fields.get(at)
                found[name] = max(at, found.get(name, at))
        return found

    def looked_at_until(self, local: LocalSymbol) -> int:
        """Where a change is not seen any more: after the last use, and the loop around it that is inside of
        those around the local."""
        last = max(self.last_reads(local).values(), default=-1)
        depth = len(self._body.declared[local].loops)
        if self._loops is None:
            self._loops = _loops(self._body)
        loops = self._loops[depth] if depth < len(self._loops) else ()
        number = bisect_right(loops, last, key=_POSITION) - 1
        return max(last, loops[number][1]) if number >= 0 else last


def _between(moments: list[Moment], first: int, end: int) -> Sequence[Moment]:
    start = bisect_left(moments, first, key=_POSITION) if first else 0
    return moments[start : bisect_left(moments, end, lo=start, key=_POSITION)]


def _loops(body: BodyEvents) -> list[list[Region]]:
    """The loops that something changes in: all those with the same number of loops around, in order."""
    found: list[set[Region]] = []
    for moments in body.changes.values():
        for _, inside in moments:
            for depth, region in enumerate(inside.loops):
                if depth == len(found):
                    found.append(set())
                found[depth].add(region)
    return [sorted(regions) for regions in found]

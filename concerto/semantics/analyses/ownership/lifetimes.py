"""How long the values of a body are looked at, and when they change."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from concerto.semantics.analyses.ownership.aggregates import Aggregates
from concerto.semantics.analyses.ownership.events import (
    NEVER,
    SHARED,
    BodyEvents,
    Bound,
    EventContext,
    Iterated,
    Kept,
    Moment,
    Part,
    Waits,
)
from concerto.semantics.analyses.ownership.loops import changed_fields, holder_of, may_leave
from concerto.semantics.analyses.ownership.origins import Summary, ValueOrigin, ValueOrigins
from concerto.semantics.analyses.ownership.recorder import field_of, root_of
from concerto.semantics.analyses.ownership.timeline import Timeline
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.symbols import FunctionSymbol, LocalSymbol
from concerto.syntax import ast

_FAR: Final = 16
"""How many blocks out the assignment of a variable is looked for."""


class ValueLifetimes(ValueOrigins):
    """`waits` are operands, by the locals that they come from. `rebound` are variables that are only assigned
    as a whole, and share what they hold. `elements` are the variables of loops, and what these go through."""

    def __init__(
        self,
        analysis: Analysis,
        body: BodyEvents,
        aggregates: Aggregates,
        summaries: Mapping[FunctionSymbol, Summary],
        lent: Collection[ast.Expr],
    ) -> None:
        super().__init__(analysis, aggregates, summaries, set(), lent)
        self.body = body
        self.timeline = Timeline(body)
        self.waits: dict[LocalSymbol, list[Waits]] = {}
        self.rebound: dict[LocalSymbol, ValueOrigin] = {}
        self.elements: dict[LocalSymbol | ast.Expr, Iterated] = {}

    def _is_parameter(self, root: LocalSymbol) -> bool:
        return root in self.body.parameters

    def _outside(self, root: LocalSymbol) -> bool:
        return root is SHARED or root not in self.body.declared

    def _is_captured(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        """May a closure that was made before hold the root's value?"""
        loops = context.loops[len(self.body.declared[root].loops) :]
        for local in (root, *self.holders.get(root, ())):
            for made in self.body.captured.get(local, ()):
                at = made.body.start
                if made.held is not None and made.held[1] <= value.end:
                    continue
                earlier = at < value.end and not context.excludes(made.context)
                if earlier or (made.held is None and any(start <= at < end for start, end in loops)):
                    return True
        return False

    def _used_after(self, root: LocalSymbol, value: Part, context: EventContext) -> bool:
        position = value.end
        loop = self._consuming(root, value, context)
        gone_through = None if loop is None else loop.iterable
        if any(wait.lasts_over(value) for wait in self.waits.get(root, ()) if wait.value is not gone_through):
            return True
        if any(self.timeline.changes_after(root, position, position)):
            return True  # The value is part of what changes it: `xs.push(keep(xs))`.
        end = self._overwritten_at(root, position, context)
        left = self._left_at(position, context)
        if end == left == NEVER and loop is None and self._repeats(root, context):
            return True
        for local in (root, *self._holders(root, position)):
            last = min(end, left) if local is root else left
            uses = self.timeline.uses(local, position, last)
            own = self._field_of(value) if local is root else None
            if any(
                not context.excludes(used_in)
                for at, used_in in uses
                if own is None or self.body.read_fields.get(at, own) == own
            ):
                return True
            is_again = local in self.rebound and local is not root and left == NEVER
            again = self.body.uses.get(local, ()) if is_again else ()
            if any(self._comes_again(local, used_at, context) for used_at, _ in again):
                return True
        return False

    def _field_of(self, value: Part) -> str | None:
        """The field that a value is a part of: who reads a number in another one does not look at it."""
        return field_of(self.analysis, value) if isinstance(value, ast.FieldAccess | ast.Index) else None

    def _left_at(self, position: int, context: EventContext) -> int:
        """Where what stands at the position leaves the function, before a loop comes round again."""
        first = context.loops[-1][0] if context.loops else 0
        ends = [end for start, end, loop in self.body.exits if not loop and first <= start <= position < end]
        return min(ends, default=NEVER)

    def _consuming(self, root: LocalSymbol, value: Part, context: EventContext) -> Iterated | None:
        """The loop that goes through the root's value for the last time, and gives an element each time it
        goes round, which the value is."""
        name = self.analysis.uses.get(value) if isinstance(value, ast.Path | ast.FieldInit) else None
        loop = self.elements.get(name if isinstance(name, LocalSymbol) else value)  # type: ignore[arg-type]
        if loop is None or self._is_parameter(root) or self._outside(root):
            return None
        inside = context.loops[len(self.body.declared[root].loops) :]
        is_innermost = len(inside) == 1 and inside[0][1] == loop.body[1]
        is_last = is_innermost and not self.timeline.uses(root, loop.body[0])
        return loop if is_last else None

    def _holders(self, root: LocalSymbol, position: int) -> list[LocalSymbol]:
        """Who else may hold the root's value by then. Who is declared later looks at it for that."""
        return [each for each in self.holders.get(root, ()) if each.node and each.node.start < position]

    def _comes_again(self, local: LocalSymbol, at: int, context: EventContext) -> bool:
        """Is the position in a loop around the context that the local lives longer than?"""
        loops = context.loops[len(self.body.declared[local].loops) :]
        return any(start <= at < end for start, end in loops)

    def _overwritten_at(self, root: LocalSymbol, position: int, context: EventContext) -> int:
        """Where the root has another value for certain, before control goes back or to a `catch`."""
        depth = len(context.loops)
        if context.guarded or any(
            len(self.body.declared[holder].loops) < depth for holder in self._holders(root, position)
        ):
            return NEVER
        if context.overwrites is root:
            return context.overwritten_at
        way = context.way
        for _ in range(_FAR):
            if way is None:
                break
            ends = way.assigned.get(root, ())
            number = bisect(ends, position)
            if number < len(ends):
                return NEVER if may_leave(self.body, position, ends[number]) else ends[number]
            way = way.around
        return NEVER

    def _repeats(self, root: LocalSymbol, context: EventContext) -> bool:
        """Does the same place run again for the same root, because a loop between the two goes round?"""
        return len(context.loops) > len(self.body.declared[root].loops)

    def _changes(self, root: LocalSymbol, position: int, context: EventContext, loops: bool = False) -> bool:
        later = self.timeline.changes_after(root, position)
        if any(not context.excludes(inside) for _, inside in later):
            return True
        if not loops or self._outside(root):
            return False
        depth = len(self.body.declared[root].loops)
        return any(self.timeline.changes(root, *region) for region in context.loops[depth:])

    def _changes_under(self, note: Kept, root: LocalSymbol) -> bool:
        """Does the root change while the holder is still looked at?"""
        until = NEVER if note.into is None else self.timeline.looked_at_until(note.into)
        return any(
            not note.context.excludes(change[1]) and self._outlasts(note.into, root, change)
            for change in self.timeline.changes_after(root, note.value.end, until)
        )

    def _changes_part(self, roots: Iterable[LocalSymbol], note: Bound) -> bool:
        """Do the roots change while what the pattern has bound is still looked at?"""
        found = self._changes_in(roots, note.subject, note.scope)
        return any(self._outlasts(note.local, *change) for change in found)

    def _outlasts(self, holder: LocalSymbol | None, root: LocalSymbol, change: Moment) -> bool:
        """Is it looked at when something changes, or later? A loop in between may come round again. Who reads
        a number of it looks at no other field, and at no place that it was in."""
        if holder is None:
            return True
        at, inside = change
        loops = inside.loops[len(self.body.declared[holder].loops) :]
        start = loops[0][0] if loops else self.timeline.changed_at(root, at)
        last = self.timeline.last_reads(holder)
        if (root, at) not in self.body.assigned_places:
            return max(last.values(), default=-1) >= start
        seen = (None, self.body.assigned_places[root, at])
        return any(last.get(name, -1) >= start for name in seen)

    def _changes_in(
        self, roots: Iterable[LocalSymbol], value: ast.Expr, region: tuple[int, int]
    ) -> list[tuple[LocalSymbol, Moment]]:
        """What changes in a region a value that was read from these roots. A place in a field of a variable's
        own value is not changed with its other fields."""
        value = holder_of(self.analysis, value)
        part = field_of(self.analysis, value)
        own = root_of(self.analysis, value) if part is not None else None
        return [
            (root, change)
            for root in roots
            for change in self.timeline.changes(root, *region)
            if not (
                root is own
                and {None, part}.isdisjoint(
                    changed_fields(self.analysis, self.body, self.summaries, root, change[0])
                )
            )
        ]

"""What is known while a body is walked, and how notes about it are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from concerto.semantics.analyses.ownership.events import (
    SHARED,
    BodyEvents,
    Bound,
    BoundParameter,
    ChangedPlace,
    Collection,
    EventContext,
    Keep,
    Kept,
    Part,
    Region,
    Waits,
)
from concerto.semantics.model.analysis import Analysis, Given, MatchBinding, SlotField
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, LocalSymbol, Named, Type
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast
from concerto.syntax.walk import children, walk

_NAMES = frozenset({ast.Ident, ast.Path})
"""Parts of patterns that bind nothing."""


def root_of(analysis: Analysis, place: ast.Expr) -> LocalSymbol | None:
    """The local at the bottom of `a.b[i].c`."""
    while isinstance(place, ast.FieldAccess | ast.Index):
        place = place.receiver
    symbol = analysis.uses.get(place) if isinstance(place, ast.Path) else None
    return symbol if isinstance(symbol, LocalSymbol) else None


def field_of(analysis: Analysis, place: ast.Expr) -> str | None:
    """The field of the local at the bottom of a place that the place is in: `b` of `a.b[i].c`."""
    below: ast.Expr | None = None
    while isinstance(place, ast.FieldAccess | ast.Index):
        place, below = place.receiver, place
    declared = isinstance(below, ast.FieldAccess) and isinstance(analysis.fields.get(below), SlotField)
    return below.name.text if declared and isinstance(below, ast.FieldAccess) else None


def folds(analysis: Analysis, node: Given) -> bool:
    """Whether a fold is given a function that may keep what it gets: one written there, or named."""
    return isinstance(node, ast.Closure) or (
        isinstance(node, ast.Path)
        and isinstance(analysis.uses.get(node), FunctionSymbol)
        and node not in analysis.calls
    )


def leaves(node: Part) -> Iterator[Part]:
    """What a value is put together from, through literals."""
    match node:
        case ast.ArrayLit(items=items) | ast.TupleLit(items=items):
            parts: list[Part] = [*items]
        case ast.MapLit(entries=entries):
            parts = [entry.value for entry in entries]
        case ast.StructLit(base=None):
            parts = [init.value or init for init in node.fields]
        case _:
            yield node
            return
    for part in parts:
        yield from leaves(part)


class _Binding(NamedTuple):
    """A node of a pattern that binds; `whole` is the local of the outermost `name @ …` around it, `hidden`
    says that it binds a part of what hides its parts."""

    node: ast.Node
    local: LocalSymbol
    whole: LocalSymbol | None
    hidden: bool


class Recorder:
    """`context` is where the walk is. `changed` lists changes in the order in which they happen. `state` is
    the state of a tool whose method this is, or is inside of."""

    def __init__(
        self, analysis: Analysis, collection: Collection, body: BodyEvents, state: LocalSymbol | None
    ) -> None:
        self.analysis = analysis
        self.collection = collection
        self.aggregates = collection.aggregates
        self.body = body
        self.context = EventContext()
        self.changed: list[LocalSymbol] = []
        self.state = state
        collection.bodies.append(body)

    # --- Values ---

    def note_kept(self, node: ast.Node, keep: Keep, into: LocalSymbol | None) -> None:
        if self.analysis.types.get(node, ERROR) in self.aggregates:
            assert isinstance(node, Part)
            self.body.notes.append(Kept(node, keep, into, self.context))

    def note_waiting(
        self, node: ast.Node, until: int, changed: frozenset[LocalSymbol], at: int | None = None
    ) -> None:
        """Note that a value waits, if it can change; `at` is the place of the note among the others."""
        # A union of classes is slow to look through, so it comes last.
        if self.analysis.types.get(node, ERROR) in self.aggregates and isinstance(node, Part):
            notes = self.body.notes
            notes.insert(len(notes) if at is None else at, Waits(node, until, changed))

    # --- Changes ---

    def look_up_late(self, node: ast.Expr, place: ast.Expr, mark: int) -> None:
        """What was visited since the mark may have given a variable on the way to the place a new value."""
        changed = self.changed[mark:]
        if changed and not self._variables(place).isdisjoint(changed):
            self.analysis.late_places.add(node)

    def _variables(self, place: ast.Expr) -> set[object]:
        """All that is named on the way to a place, its own variable too."""
        uses = self.analysis.uses
        return {uses.get(node) for node in walk(place) if isinstance(node, ast.Path | ast.FieldInit)}

    def change(
        self, place: ast.Expr, end: int, method: FunctionSymbol | None = None, of_elements: bool = False
    ) -> None:
        """Note a change by what begins with the place, and looks at all up to its end before; `of_elements`:
        only which elements the collection in a variable has."""
        root = root_of(self.analysis, place)
        if root is not None:
            if not of_elements:
                self.body.changed_inside.add(root)
            self.note_change(root, place.start, (place, method))
            self.body.changed_at[root, place.start] = end
        while isinstance(place, ast.FieldAccess | ast.Index):
            place = place.receiver
            self.note_changed_type(self.analysis.types.get(place, ERROR))

    def note_changed_type(self, found: Type) -> None:
        """Note that a part of a value of the type may be changed in its place."""
        found = resolve(found)
        if isinstance(found, Named):
            self.collection.changed_types.add(found.symbol)

    def note_change(self, local: LocalSymbol, position: int, changed: ChangedPlace = (None, None)) -> None:
        self.changed.append(local)
        self.body.changed_places.setdefault((local, position), []).append(changed)
        self.body.changes.setdefault(local, []).append((position, self.context))

    def is_immutable(self, node: ast.Expr) -> bool:
        """Whether what the value is made of is given up for good."""
        found = resolve(self.analysis.types.get(node, ERROR))
        return isinstance(found, Named) and found.symbol in self.aggregates.immutable

    # --- Contexts ---

    def enter_arm(self, node: ast.Node, number: int) -> EventContext:
        """Enter a branch; gives the context to restore."""
        before = self.context
        branches = (*before.branches, (id(node), number))
        self.context = EventContext(
            before.loops, branches, before.guarded, before.overwrites, before.overwritten_at, before.way
        )
        return before

    @contextmanager
    def unordered(self, node: ast.Node) -> Iterator[None]:
        """Inside, positions do not tell what comes after what: a loop comes round again."""
        before = self.context
        region = (node.start, node.end)
        self.context = EventContext((*before.loops, region), before.branches, before.guarded)
        yield
        self.context = before

    # --- Patterns ---

    def bindings(self, pattern: ast.Pattern | None) -> list[LocalSymbol]:
        return [each.local for each in self._bound_nodes(pattern)] if pattern is not None else []

    def _bound_nodes(self, pattern: ast.Node) -> list[_Binding]:
        found: list[_Binding] = []
        stack: list[tuple[ast.Node, LocalSymbol | None, bool]] = [(pattern, None, False)]
        while stack:
            node, whole, hidden = stack.pop()
            target = self.analysis.patterns.get(node)
            if isinstance(target, MatchBinding):
                found.append(_Binding(node, target.local, whole, hidden))
                if whole is None:
                    whole = target.local
            if node.__class__ is not ast.BindPattern:
                hidden = hidden or self.aggregates.hides(self.analysis.pattern_types.get(node, ERROR))
            elif node.pattern is None:
                continue
            stack += [(child, whole, hidden) for child in children(node) if child.__class__ not in _NAMES]
        return found

    def bind(
        self, pattern: ast.Pattern, subject: ast.Expr, scope: Region, taken: EventContext | None = None
    ) -> None:
        for part, value in self.paired(pattern, subject):
            for node, local, whole, hidden in self._bound_nodes(part):
                self.body.declared[local] = self.context
                if local.type in self.aggregates:
                    self.body.notes.append(Bound(node, local, value, whole, scope, taken, hidden))

    def paired(self, pattern: ast.Pattern, subject: ast.Expr) -> Iterator[tuple[ast.Pattern, ast.Expr]]:
        """The parts of a pattern with what they take apart: those of `(a, b)` in `match (x, y)`."""
        match pattern, subject:
            case ast.TuplePattern(items=parts), ast.TupleLit(items=values) if (
                len(parts) == len(values)
                and subject not in self.analysis.coercions
                and not any(isinstance(part, ast.RestPattern) for part in parts)
            ):
                for part, value in zip(parts, values, strict=True):
                    yield from self.paired(part, value)
            case _:
                yield pattern, subject

    def bind_parameter(self, pattern: ast.Pattern, parameter: LocalSymbol | None = None) -> None:
        for node, local, _, hidden in self._bound_nodes(pattern):
            if parameter is None:
                self.body.parameters.append(local)
            self.body.declared[local] = self.context
            if local.type in self.aggregates:
                self.body.notes.append(BoundParameter(node, local, SHARED if hidden else parameter))

    def give(self, parameter: ast.Parameter) -> None:
        """Whoever calls the body has the value of the parameter no more."""
        local = self.analysis.parameters.get(parameter)
        bound = self._bound_nodes(parameter.pattern) if parameter.pattern is not None else []
        if not any(each.whole or each.hidden for each in bound):
            self.body.given.update(each.local for each in bound)
        if local is not None and not bound:
            self.body.given.add(local)

"""What loops see of changes in their bodies, and where they are left."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Set

from concerto.semantics.analyses.ownership.events import BodyEvents, Iterated, Moment
from concerto.semantics.analyses.ownership.origins import Summary
from concerto.semantics.analyses.ownership.recorder import field_of, root_of
from concerto.semantics.model.analysis import Analysis, Default, MatchBinding, NativeCall
from concerto.semantics.model.symbols import ERROR, FunctionSymbol, LocalSymbol, Named
from concerto.semantics.typing.unify import resolve
from concerto.syntax import ast


def holder_of(analysis: Analysis, node: ast.Expr) -> ast.Expr:
    """`xs` of `xs.enumerate()`: what holds the elements that a library function of nothing else gives."""
    while True:
        call = analysis.calls.get(node)
        if not isinstance(call, NativeCall) or len(call.arguments) != 1 or not call.function.receiver:
            return node
        [receiver] = call.arguments
        if isinstance(receiver, Default):
            return node
        node = receiver


def keyed_elements(analysis: Analysis, node: ast.For) -> tuple[ast.Expr, LocalSymbol | None]:
    """What a loop goes through, and what it binds to the index or key of each element: `i` of `for (i, x) in
    xs.enumerate()`, `k` of `for (k, v) in map`."""
    place = holder_of(analysis, node.iterable)
    match node.pattern:
        case ast.TuplePattern(items=[ast.BindPattern(pattern=None, mutable=False) as bound, _]):
            target = analysis.patterns.get(bound)
            if isinstance(target, MatchBinding) and _has_keys(analysis, node.iterable, place):
                return place, target.local
    return place, None


def _has_keys(analysis: Analysis, iterable: ast.Expr, place: ast.Expr) -> bool:
    names = []
    while iterable is not place:
        call = analysis.calls[iterable]
        assert isinstance(call, NativeCall)
        names.append(call.function.native)
        [iterable] = call.arguments  # type: ignore[assignment]
    if names in (["Array::enumerate"], ["Iterator::enumerate", "Iterator::iter"]):
        return _container(analysis, place) == "Array"
    return names in ([], ["Iterator::iter"]) and _container(analysis, place) == "Map"


def _container(analysis: Analysis, node: ast.Expr) -> str:
    found = resolve(analysis.types.get(node, ERROR))
    return found.symbol.name if isinstance(found, Named) else ""


def is_unseen(
    analysis: Analysis,
    body: BodyEvents,
    loop: Iterated,
    roots: Set[LocalSymbol],
    root: LocalSymbol,
    change: Moment,
) -> bool:
    """Whether a change is one of the element that the loop is at, by its key, or the loop ends with this
    round."""
    place = holder_of(analysis, loop.iterable)
    if _container(analysis, place) not in _GONE_THROUGH:
        return False
    if _ends_with_round(body, loop, change):
        return True
    return (
        loop.key is not None
        and roots == {root}
        and root_of(analysis, place) is root
        and all(
            changed is not None and _is_in_element(analysis, changed, place, loop.key)
            for changed, _ in body.changed_places[root, change[0]]
        )
    )


_GONE_THROUGH = ("Array", "Map", "Set", "Queue", "Stack")


def _is_in_element(analysis: Analysis, changed: ast.Expr, place: ast.Expr, key: LocalSymbol) -> bool:
    """Whether a place is `place[key]`, or in it."""
    while isinstance(changed, ast.FieldAccess | ast.Index):
        receiver = changed.receiver
        if isinstance(changed, ast.Index) and _is_same(analysis, receiver, place):
            return isinstance(changed.index, ast.Path) and analysis.uses.get(changed.index) is key
        changed = receiver
    return False


def _is_same(analysis: Analysis, one: ast.Expr, other: ast.Expr) -> bool:
    """Whether both are the same local, or field of it."""
    while isinstance(one, ast.FieldAccess) and isinstance(other, ast.FieldAccess):
        if one.name.text != other.name.text:
            return False
        one, other = one.receiver, other.receiver
    if not (isinstance(one, ast.Path) and isinstance(other, ast.Path)):
        return False
    return isinstance(local := analysis.uses.get(one), LocalSymbol) and local is analysis.uses.get(other)


def _ends_with_round(body: BodyEvents, loop: Iterated, change: Moment) -> bool:
    """Whether the loop is left for certain after the change, before its next round."""
    at, context = change
    first, last = loop.body
    if context.guarded:
        return False
    for start, end, left in body.exits:
        if first <= start <= at < end <= last and left <= first:
            begin = min([at, *(inner for inner, _ in context.loops if inner >= start)])
            if not any(begin < leave < end for leave, _ in body.leaves):
                return True
    return False


def may_leave(body: BodyEvents, start: int, end: int) -> bool:
    """May a loop around the start be left or go on before the end?"""
    leaves = body.leaves
    for number in range(bisect(leaves, (start, 0)), len(leaves)):
        at, loop = leaves[number]
        if at >= end:
            break
        if loop < start:
            return True
    return False


def changed_fields(
    analysis: Analysis,
    body: BodyEvents,
    summaries: Mapping[FunctionSymbol, Summary],
    root: LocalSymbol,
    position: int,
) -> set[str | None]:
    """The fields of a local that are changed at a position, None for all that it holds."""
    found: set[str | None] = set()
    for place, method in body.changed_places[root, position]:
        summary = summaries.get(method) if method is not None else None
        if isinstance(place, ast.Path) and summary is not None:
            found |= summary.changes
        else:
            found.add(field_of(analysis, place) if place is not None else None)
    return found

"""What patterns bind. The names of a pattern are bound when the whole of it is known to match."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import ELSE, IF, LENGTH, LOAD_NIL, SLICE, SUB_INT
from concerto.emit.pattern_matching.access_paths import Part, Route, load, parts, spill_route
from concerto.emit.pattern_matching.conditions import push_all, tests
from concerto.semantics.model.analysis import MatchBinding
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast
from concerto.syntax.walk import walk


def bind(b: FunctionBuilder, pattern: ast.Pattern, slot: int) -> None:
    """Bind the names of a pattern that is known to match the value of a local."""
    bind_parts(b, pattern, Route(slot))


def irrefutable(b: FunctionBuilder, pattern: ast.Pattern) -> None:
    """Bind the value on the stack to a pattern that always matches."""
    if isinstance(pattern, ast.BindPattern) and pattern.pattern is None:
        target = b.program.analysis.patterns[pattern]
        if isinstance(target, MatchBinding):
            if pattern in b.copies:
                b.copy(target.local.type)
            b.store(b.declare(target.local))
            return
    bind(b, pattern, b.spill())


def bind_parts(b: FunctionBuilder, pattern: Part, route: Route) -> None:
    """Bind the names of a pattern that is known to match the value at the end of a route."""
    match pattern:
        case ast.BindPattern(pattern=inner):
            target = b.program.analysis.patterns[pattern]
            if isinstance(target, MatchBinding):
                _bind_local(b, pattern, target.local, route)
                if inner is not None:
                    bind_parts(b, inner, route)
        case ast.ArrayPattern(items=items):
            _bind_rest(b, items, route)
        case ast.FieldPattern():
            target = b.program.analysis.patterns[pattern]
            assert isinstance(target, MatchBinding)
            _bind_local(b, pattern, target.local, route)
        case ast.OrPattern(alternatives=alternatives) if _bound_locals(b, pattern):
            _bind_alternative(b, alternatives, route)
        case _:
            pass
    if not isinstance(pattern, ast.BindPattern):
        _bind_inside(b, pattern, route)


def _bind_inside(b: FunctionBuilder, pattern: Part, route: Route) -> None:
    before = len(b.code)
    start = spill_route(b, route) if route.is_long else route
    kept = len(b.code)
    for part, part_route in parts(b, pattern, start):
        bind_parts(b, part, part_route)
    if start is not route and len(b.code) == kept:
        del b.code[before:]  # Nothing is bound in there.


def _bind_local(b: FunctionBuilder, node: ast.Node, local: LocalSymbol, route: Route) -> None:
    load(b, route)
    if node in b.copies:
        b.copy(local.type)
    b.store(b.declare(local))


def _bind_rest(b: FunctionBuilder, items: Sequence[ast.Node], route: Route) -> None:
    for position, item in enumerate(items):
        if not isinstance(item, ast.RestPattern) or item.name is None:
            continue
        target = b.program.analysis.patterns[item]
        assert isinstance(target, MatchBinding)
        after = len(items) - position - 1
        load(b, route)
        b.constant(position)
        if after:
            load(b, route)
            b.emit(LENGTH)
            b.constant(after)
            b.emit(SUB_INT)
        else:
            b.emit(LOAD_NIL)
        b.emit(SLICE)
        if item in b.copies:
            b.copy(target.local.type)
        b.store(b.declare(target.local))


def _bind_alternative(b: FunctionBuilder, alternatives: Sequence[ast.Pattern], route: Route) -> None:
    """Ask again which alternative it was, and bind its names: locals of one name are one variable."""
    for local in dict.fromkeys(chain.from_iterable(_bound_locals(b, each) for each in alternatives)):
        b.declare(local)
    for alternative in alternatives[:-1]:
        push_all(b, tests(b, [(alternative, route)]))
        b.open(IF)
        bind_parts(b, alternative, route)
        b.part(ELSE)
    bind_parts(b, alternatives[-1], route)
    for _ in alternatives[:-1]:
        b.close()


def _bound_locals(b: FunctionBuilder, pattern: ast.Pattern) -> list[LocalSymbol]:
    targets = (b.program.analysis.patterns.get(node) for node in walk(pattern))
    return [target.local for target in targets if isinstance(target, MatchBinding)]

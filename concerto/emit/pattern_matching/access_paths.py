"""The ways from a matched value to the values inside of it.

A value inside the subject is reached by its `Route` from the local that holds the subject. Those deep
inside start from a local of their own: if each test went all the way again, the code would grow with the
square of the depth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from concerto.emit.function import FunctionBuilder
from concerto.emit.instructions import INDEX_ARRAY, LENGTH, SUB_INT, UNWRAP
from concerto.ir.module import Instr
from concerto.records import frozen
from concerto.semantics.model.analysis import MatchBuiltin, MatchStruct, MatchVariant
from concerto.syntax import ast


@frozen
class Route:
    """From a local to a value inside of it: `steps` after `base`. `from_end` counts from the end of an
    array, `depth` the routes before this one."""

    slot: int
    base: Route | None = None
    steps: tuple[Instr, ...] = ()
    from_end: int = 0
    depth: int = 0

    @property
    def is_long(self) -> bool:
        """Whether what is inside of its value is better reached from a new local."""
        return self.depth >= _LONG


_LONG: Final = 8

Part: TypeAlias = ast.Pattern | ast.FieldPattern
"""A pattern, or the short field of a struct pattern, which binds its value."""

Pair: TypeAlias = tuple[Part, Route]


def load(b: FunctionBuilder, route: Route) -> None:
    """Push the value at the end of a route."""
    if route.base is None:
        b.load(route.slot)
        return
    load(b, route.base)
    if route.from_end:
        load(b, route.base)
        b.emit(LENGTH)
        b.constant(route.from_end)
        b.emit(SUB_INT)
        b.emit(INDEX_ARRAY)
    for step in route.steps:
        b.emit(step)


def spill_route(b: FunctionBuilder, route: Route) -> Route:
    """Put the value at the end of a route into a new local."""
    load(b, route)
    return Route(b.spill())


def parts(b: FunctionBuilder, pattern: Part, route: Route) -> list[Pair]:
    """The patterns inside a pattern, each with the route to the value that it meets."""
    match pattern:
        case ast.TuplePattern(items=items):
            get = "GET_ITEM_OF"
            return [(item, _to(route, (get, index, len(items)))) for index, item in enumerate(items)]
        case ast.VariantPattern(arguments=arguments):
            target = b.program.analysis.patterns[pattern]
            if isinstance(target, MatchBuiltin):
                return [(argument, _to(route, UNWRAP)) for argument in arguments or ()]
            get = "GET_FIELD" if isinstance(target, MatchStruct) else "GET_PAYLOAD"
            return [(argument, _to(route, (get, index))) for index, argument in enumerate(arguments or ())]
        case ast.StructPattern(fields=fields):
            return [(field.pattern or field, _field_route(b, pattern, field, route)) for field in fields]
        case ast.ArrayPattern(items=array_items):
            return _elements(b, array_items, route)
        case _:
            return []


def _to(route: Route, *steps: Instr) -> Route:
    return Route(route.slot, route, steps, depth=route.depth + 1)


def _field_route(
    b: FunctionBuilder, pattern: ast.StructPattern, field: ast.FieldPattern, route: Route
) -> Route:
    symbol = b.program.analysis.pattern_fields[field]
    match b.program.analysis.patterns[pattern]:
        case MatchVariant():
            return _to(route, ("GET_PAYLOAD", symbol.index))
        case MatchStruct(struct=struct) if struct.is_error:
            return _to(route, ("GET_MEMBER", symbol.name))
        case _:
            return _to(route, ("GET_FIELD", symbol.index))


def _elements(b: FunctionBuilder, items: Sequence[ast.Pattern | ast.RestPattern], route: Route) -> list[Pair]:
    found: list[Pair] = []
    behind_rest = False
    for position, item in enumerate(items):
        if isinstance(item, ast.RestPattern):
            behind_rest = True
        elif behind_rest:
            from_end = len(items) - position
            found.append((item, Route(route.slot, route, from_end=from_end, depth=route.depth + 1)))
        else:
            found.append((item, _to(route, ("LOAD_CONST", b.program.constant(position)), INDEX_ARRAY)))
    return found

"""Structs and enums of which no value can be made, because each would hold another of its kind (E0202)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from concerto.diagnostics import Problems, UnknownType
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import RESULT
from concerto.semantics.model.symbols import (
    EnumSymbol,
    FieldSymbol,
    Generic,
    GenericSymbol,
    Named,
    StructSymbol,
    TupleOf,
    Type,
)
from concerto.semantics.typing.unify import resolve, show
from concerto.syntax import ast
from concerto.wording import listed

_Declared: TypeAlias = StructSymbol | EnumSymbol
_Needs: TypeAlias = frozenset[GenericSymbol] | None
"""The type parameters of which a value is needed to make one; None while no way to make one is known."""

_NONE: _Needs = frozenset()


def check_endless(analysis: Analysis, problems: Problems) -> None:
    """Report every circle of types that hold each other without an end, once."""
    needs = _find_needs([*analysis.structs, *analysis.enums])
    told: set[_Declared] = set()
    for symbol, found in needs.items():
        if found is None and symbol not in told:
            circle = _circle(symbol, needs)
            if told.isdisjoint(circle):
                _report(circle, needs, problems)
            told.update(circle)


def _find_needs(symbols: list[_Declared]) -> dict[_Declared, _Needs]:
    """The least solution: a type can be made if all that it must hold can be made."""
    needs: dict[_Declared, _Needs] = dict.fromkeys(symbols)
    holders: defaultdict[_Declared, set[_Declared]] = defaultdict(set)
    for symbol in symbols:
        for field in _fields(symbol):
            for held in _mentioned(field.type):
                holders[held].add(symbol)
    waiting = dict.fromkeys(symbols)
    queue = deque(symbols)
    while queue:
        symbol = queue.popleft()
        waiting.pop(symbol)
        found = _needs_of_symbol(symbol, needs)
        if found != needs[symbol]:
            needs[symbol] = found
            again = [holder for holder in holders[symbol] if holder not in waiting]
            waiting.update(dict.fromkeys(again))
            queue.extend(again)
    return needs


def _fields(symbol: _Declared) -> Iterator[FieldSymbol]:
    if isinstance(symbol, StructSymbol):
        yield from symbol.fields
    else:
        for variant in symbol.variants:
            yield from variant.fields


def _mentioned(type_: Type) -> Iterator[_Declared]:
    match resolve(type_):
        case Named(symbol, arguments):
            if isinstance(symbol, StructSymbol | EnumSymbol):
                yield symbol
            for argument in arguments:
                yield from _mentioned(argument)
        case TupleOf(items):
            for item in items:
                yield from _mentioned(item)
        case _:
            pass


def _needs_of_symbol(symbol: _Declared, needs: Mapping[_Declared, _Needs]) -> _Needs:
    if isinstance(symbol, StructSymbol):
        return _all((field.type for field in symbol.fields), needs)
    ways = [_all((field.type for field in variant.fields), needs) for variant in symbol.variants]
    return _any(ways) if ways else _NONE


def _needs_of(type_: Type, needs: Mapping[_Declared, _Needs]) -> _Needs:
    match resolve(type_):
        case Generic(symbol):
            return frozenset((symbol,))
        case TupleOf(items):
            return _all(items, needs)
        case Named(symbol, arguments) if symbol is RESULT:
            return _any([_needs_of(argument, needs) for argument in arguments])
        case Named(StructSymbol() | EnumSymbol() as symbol, arguments) if symbol in needs:
            inner = needs[symbol]
            return None if inner is None else _all(_needed(symbol, arguments, inner), needs)
        case _:
            return _NONE  # Whatever else is built in can be empty, or is made elsewhere.


def _needed(symbol: _Declared, arguments: tuple[Type, ...], inner: frozenset[GenericSymbol]) -> list[Type]:
    given = zip(symbol.generics, arguments, strict=False)  # A wrong number was reported.
    return [argument for generic, argument in given if generic in inner]


def _all(types: Iterable[Type], needs: Mapping[_Declared, _Needs]) -> _Needs:
    together: frozenset[GenericSymbol] = frozenset()
    for type_ in types:
        found = _needs_of(type_, needs)
        if found is None:
            return None
        together |= found
    return together


def _any(ways: list[_Needs]) -> _Needs:
    possible = [way for way in ways if way is not None]
    return frozenset.intersection(*possible) if possible else None


def _circle(start: _Declared, needs: Mapping[_Declared, _Needs]) -> list[_Declared]:
    """The types that hold each other, to which the first thing that cannot be made leads again and again."""
    way = [start]
    while (held := _held(_first_field(way[-1], needs).type, needs)) not in way:
        way.append(held)
    return way[way.index(held) :]


def _first_field(symbol: _Declared, needs: Mapping[_Declared, _Needs]) -> FieldSymbol:
    return next(field for field in _fields(symbol) if _needs_of(field.type, needs) is None)


def _held(type_: Type, needs: Mapping[_Declared, _Needs]) -> _Declared:
    """The type in this one that cannot be made."""
    return next(symbol for symbol in _mentioned(type_) if symbol in needs and needs[symbol] is None)


def _report(circle: list[_Declared], needs: Mapping[_Declared, _Needs], problems: Problems) -> None:
    symbol, *others = circle
    assert symbol.source is not None
    assert isinstance(symbol.node, ast.StructDecl | ast.SchemaDecl | ast.EnumDecl)
    field = _first_field(symbol, needs)
    through = f" by way of {listed([other.name for other in others])}" if others else ""
    if isinstance(symbol, EnumSymbol):
        fact, advice = f"every variant of `{symbol.name}` holds", "add a variant that holds none"
    else:
        end = f"`{field.name}: Option<{show(field.type)}>`"
        fact, advice = f"every `{symbol.name}` holds", f"let it end somewhere: {end}"
    place = symbol.node.name
    problems.add(
        UnknownType(
            symbol.source.span(place.start, place.end),
            f"{fact} another `{symbol.name}`{through}, so none can ever be made",
            help=advice,
        )
    )

"""Types of whose values no part is ever changed in its place.

To copy a value that holds collections, or values of its own type, costs as much as it is large, so that the
pass tries to treat such types as immutable: what is put into a value of one is given up for good, what is
read out of one belongs to somebody who is not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from concerto.semantics.analyses.ownership.aggregates import COLLECTIONS
from concerto.semantics.analyses.ownership.events import Collection
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ANY
from concerto.semantics.model.symbols import (
    EnumSymbol,
    Generic,
    ImplSymbol,
    Named,
    StructSymbol,
    Type,
    TypeSymbol,
    field_types,
)
from concerto.semantics.typing.unify import all_parts

_NONE: Final = frozenset[TypeSymbol]()


def immutable_types(
    analysis: Analysis, collection: Collection, copied: Iterable[Type]
) -> tuple[frozenset[TypeSymbol], frozenset[TypeSymbol]]:
    """Those that the copied types are made of, and which of them hold themselves; none if all are copied at
    once."""
    if ANY.symbol in collection.changed_types:
        return _NONE, _NONE
    changed = collection.changed_types | set(_with_changing_methods(analysis))
    parts: dict[TypeSymbol, set[TypeSymbol]] = {}
    _reached(copied, parts)
    unchanged = frozenset(parts.keys() - changed)
    holding = frozenset([each for each in unchanged if each in _below(each, parts)])
    if not holding and not any(_holds_collections(each, parts) for each in unchanged):
        return _NONE, _NONE
    return unchanged, holding


def _reached(types: Iterable[Type], parts: dict[TypeSymbol, set[TypeSymbol]]) -> set[TypeSymbol]:
    """The declared types that types name; fills `parts` with what those of them name that are new."""
    symbols = {part.symbol for part in all_parts(types) if isinstance(part, Named)}
    found: set[TypeSymbol] = {
        symbol
        for symbol in symbols
        if isinstance(symbol, EnumSymbol) or (isinstance(symbol, StructSymbol) and not symbol.is_error)
    }
    for symbol in found:
        if symbol not in parts:
            parts[symbol] = set()
            parts[symbol] = _reached(field_types(symbol), parts)
    return found


def _holds_collections(symbol: TypeSymbol, parts: dict[TypeSymbol, set[TypeSymbol]]) -> bool:
    return any(
        isinstance(part, Generic) or (isinstance(part, Named) and part.symbol.name in COLLECTIONS)
        for each in (symbol, *_below(symbol, parts))
        for part in all_parts(field_types(each))
    )


def _below(symbol: TypeSymbol, parts: dict[TypeSymbol, set[TypeSymbol]]) -> set[TypeSymbol]:
    found: set[TypeSymbol] = set()
    waiting = [*parts[symbol]]
    while waiting:
        part = waiting.pop()
        if part not in found:
            found.add(part)
            waiting += parts[part]
    return found


def _with_changing_methods(analysis: Analysis) -> Iterator[TypeSymbol]:
    """Types that have a method which may change its receiver."""
    for function in analysis.functions:
        owner = function.owner.target if isinstance(function.owner, ImplSymbol) else function.owner
        if function.receiver == "mut self" and isinstance(owner, Named | StructSymbol):
            yield owner.symbol if isinstance(owner, Named) else owner
    for impl in analysis.impls:
        provided = impl.trait.trait.methods.values() if impl.trait is not None else ()
        if isinstance(impl.target, Named) and any(each.receiver == "mut self" for each in provided):
            yield impl.target.symbol

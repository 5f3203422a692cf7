"""Types that hold themselves, as trees do, and of whose values no part is ever changed in its place.

To copy such a value costs as much as it is large, so that the pass tries to treat them as immutable: what is
put into one is given up for good, what is read out of one belongs to somebody who is not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from concerto.semantics.analyses.ownership.events import Collection
from concerto.semantics.model.analysis import Analysis
from concerto.semantics.model.builtins import ANY
from concerto.semantics.model.symbols import (
    EnumSymbol,
    ImplSymbol,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    TypeSymbol,
    field_types,
)
from concerto.semantics.typing.unify import resolve


def immutable_types(
    analysis: Analysis, collection: Collection, copied: Iterable[Type]
) -> frozenset[TypeSymbol]:
    """Those that the copied types are made of."""
    if ANY.symbol in collection.changed_types:
        return frozenset()
    changed = collection.changed_types | set(_with_changing_methods(analysis))
    parts: dict[TypeSymbol, set[TypeSymbol]] = {}
    _reached(copied, parts)
    return frozenset(each for each in parts if each not in changed and each in _below(each, parts))


def _reached(types: Iterable[Type], parts: dict[TypeSymbol, set[TypeSymbol]]) -> set[TypeSymbol]:
    """The declared types that types name; fills `parts` with what those of them name that are new."""
    found: set[TypeSymbol] = set()
    waiting = [*types]
    while waiting:
        match resolve(waiting.pop()):
            case Named(symbol=symbol, arguments=arguments):
                waiting += arguments
                if isinstance(symbol, EnumSymbol) or (
                    isinstance(symbol, StructSymbol) and not symbol.is_error
                ):
                    found.add(symbol)
            case TupleOf(items=items):
                waiting += items
            case _:
                pass
    for symbol in found:
        if symbol not in parts:
            parts[symbol] = set()
            parts[symbol] = _reached(field_types(symbol), parts)
    return found


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

"""Finds impls and their methods by the head of a type, in the tables of the program and of the library."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from concerto.semantics.model.builtins import ITERATOR_TRAIT
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.impl_table import Candidate, Head, ImplTable
from concerto.semantics.model.symbols import (
    FunctionOf,
    FunctionSymbol,
    Generic,
    GenericSymbol,
    ImplSymbol,
    Named,
    TraitUse,
    TupleOf,
    Type,
)
from concerto.semantics.typing.unify import is_solved, resolve, substitute


def add_impl(declarations: Declarations, impl: ImplSymbol) -> None:
    """Make the methods of an impl known."""
    _add(declarations.impls, impl)
    declarations.candidates.clear()
    declarations.inner_candidates.clear()
    declarations.found_methods.clear()
    declarations.found_impls.clear()


def candidates(declarations: Declarations, head: Head, name: str) -> tuple[Candidate, ...]:
    """Methods of that name for types of that head, in the order in which they are to be tried: inherent
    ones first."""
    found = declarations.candidates.get((head, name))
    if found is None:
        found = declarations.candidates[head, name] = tuple(_all_candidates(declarations, head, name))
    if declarations.traits_of_blocks:
        return tuple(
            [each for each in found if each.impl.trait is None or declarations.sees(each.impl.trait.trait)]
        )
    return found


def candidates_for(declarations: Declarations, receiver: Type, name: str) -> Sequence[Candidate]:
    """As `candidates`, for a very type: without those that are for others by what it is of first."""
    head = head_of(receiver)
    found = candidates(declarations, head, name)
    inner = _inner_head(receiver)
    if inner is None or len(found) < _MANY or declarations.traits_of_blocks:
        return found
    sorted_ = declarations.inner_candidates.get((head, name))
    if sorted_ is None:
        sorted_ = declarations.inner_candidates[head, name] = {}
        for place, candidate in enumerate(found):
            sorted_.setdefault(_inner_head(candidate.impl.target), []).append((place, candidate))
    some = sorted([*sorted_.get(inner, ()), *sorted_.get(None, ())], key=itemgetter(0))
    return [candidate for _, candidate in some]


_MANY: Final = 8


def _inner_head(type_: Type) -> Head:
    """The head of the first argument of a type, None if there is none that is known."""
    match type_:
        case Named(arguments=(first, *_)) | TupleOf(items=(first, *_)):
            return head_of(resolve(first))
        case _:
            return None


def _all_candidates(declarations: Declarations, head: Head, name: str) -> Iterator[Candidate]:
    heads = (head, None) if head is not None else (None,)
    for of_head in heads:
        for table in declarations.impl_tables():
            yield from table.inherent.get(of_head, {}).get(name, ())
    for of_head in heads:
        for table in declarations.impl_tables():
            yield from table.provided_by_traits.get(of_head, {}).get(name, ())


def method_names(declarations: Declarations, head: Head) -> Iterator[str]:
    for table in declarations.impl_tables():
        for of_head in (head, None):
            for names in (table.inherent.get(of_head, ()), table.provided_by_traits.get(of_head, ())):
                yield from [name for name in names if candidates(declarations, head, name)]


def impls_of(declarations: Declarations, use: TraitUse, target: Type) -> Iterator[ImplSymbol]:
    """Impls by which this type may meet a bound."""
    for table in declarations.impl_tables():
        yield from _of_trait(table, use, target)


def rivals_of(declarations: Declarations, impl: ImplSymbol) -> Iterator[ImplSymbol]:
    """Other impls of its trait that might be for the same types."""
    for table in declarations.impl_tables():
        yield from _rivals(table, impl)


def _add(table: ImplTable, impl: ImplSymbol) -> None:
    target = impl.target
    simple = isinstance(target, Named) and target.arguments == tuple(map(Generic, impl.generics))
    bounded = any(generic.bounds for generic in impl.generics)
    by_head = table.inherent if impl.trait is None else table.provided_by_traits
    names = by_head.setdefault(head_of(target), {})
    for name, function in all_methods(impl).items():
        found = names.setdefault(name, [])
        insort(found, Candidate(impl, function, simple, bounded, _weight(target)), key=_lighter)
    if impl.trait is not None:
        heads = table.by_trait.setdefault(impl.trait.trait, {})
        heads.setdefault(head_of(target), []).append(impl)
        if impl.generics:
            heads = table.generic.setdefault(impl.trait.trait, {})
            heads.setdefault(head_of(target), []).append(impl)
        else:
            table.exact.setdefault((impl.trait, target), impl)


def methods_named(table: ImplTable, name: str) -> Iterator[FunctionSymbol]:
    """The methods of that name of all types."""
    for by_head in (table.inherent, table.provided_by_traits):
        for names in by_head.values():
            for candidate in names.get(name, ()):
                yield candidate.function


def _of_trait(table: ImplTable, use: TraitUse, target: Type) -> Iterator[ImplSymbol]:
    heads = table.by_trait.get(use.trait)
    if heads is None:
        return
    if is_solved(target) and all(map(is_solved, use.arguments)):
        exact = table.exact.get((use, target))
        if exact is not None:
            yield exact
        heads = table.generic.get(use.trait, {})
    head = head_of(target)
    yield from heads.get(head, ())
    if head is not None:
        yield from heads.get(None, ())


def _rivals(table: ImplTable, impl: ImplSymbol) -> Iterator[ImplSymbol]:
    use = impl.trait
    assert use is not None
    if not impl.generics and (use, impl.target) in table.exact:
        yield table.exact[use, impl.target]
    several = impl.generics or use.trait is ITERATOR_TRAIT  # A type has one way through its values.
    of_trait, head = table.by_trait if several else table.generic, head_of(impl.target)
    for of_head, impls in of_trait.get(use.trait, {}).items():
        if head is None or of_head is None or of_head == head:
            yield from impls


def inherent_of(table: ImplTable, target: Type, name: str) -> Iterator[FunctionSymbol]:
    """Functions of that name in inherent impls of exactly this target."""
    for candidate in table.inherent.get(head_of(target), {}).get(name, ()):
        if candidate.impl.target == target or (candidate.simple and isinstance(target, Named)):
            own = {g: Generic(h) for g, h in zip(candidate.impl.generics, _generics_in(target), strict=False)}
            if substitute(candidate.impl.target, own) == target and not candidate.bounded:
                yield candidate.function


def _generics_in(target: Type) -> list[GenericSymbol]:
    parts = target.arguments if isinstance(target, Named) else ()
    return [part.symbol for part in parts if isinstance(part, Generic)]


def _lighter(candidate: Candidate) -> int:
    return -candidate.weight


def _weight(target: Type) -> int:
    """How special a target is: the number of its parts that are not parameters."""
    match target:
        case Named():
            return 1 + sum(map(_weight, target.arguments))
        case TupleOf():
            return 1 + sum(map(_weight, target.items))
        case FunctionOf():
            return 1 + sum(map(_weight, target.parameters)) + _weight(target.result)
        case _:
            return 0


def all_methods(impl: ImplSymbol) -> dict[str, FunctionSymbol]:
    """Methods of an impl and those that its trait provides."""
    if impl.trait is None:
        return impl.methods
    trait = impl.trait.trait.methods
    provided = {
        name: method for name, method in trait.items() if method.decl is not None and method.decl.body
    }
    return {**provided, **impl.methods}


def head_of(type_: Type) -> Head:
    match type_:
        case Named():
            return type_.symbol
        case TupleOf():
            return "tuple"
        case FunctionOf():
            return "fn"
        case _:
            return None

"""The impls of a program, sorted so that the methods of a type are found without looking at all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    GenericSymbol,
    ImplSymbol,
    TraitSymbol,
    TraitUse,
    TypeSymbol,
)
from concerto.semantics.model.types import FunctionOf, Generic, Named, TupleOf, Type
from concerto.semantics.typing.unify import is_solved, substitute

if TYPE_CHECKING:
    pass

Head: TypeAlias = "TypeSymbol | Literal['tuple', 'fn'] | None"
"""What impls are sorted by: the outermost part of a type; None for a bare generic parameter."""


@frozen
class Candidate:
    """A method of an impl. `simple`: the target is a type with the impl's own parameters as its
    arguments."""

    impl: ImplSymbol
    function: FunctionSymbol
    simple: bool
    bounded: bool
    weight: int


@record
class ImplTable:
    """The impls of a program (or of the library), sorted by the head of their target. Those of traits are
    either `generic` or, for one type and use of the trait, `exact`; the first one of equal ones."""

    inherent: dict[Head, dict[str, list[Candidate]]] = field(default_factory=dict)
    provided_by_traits: dict[Head, dict[str, list[Candidate]]] = field(default_factory=dict)
    by_trait: dict[TraitSymbol, dict[Head, list[ImplSymbol]]] = field(default_factory=dict)
    generic: dict[TraitSymbol, dict[Head, list[ImplSymbol]]] = field(default_factory=dict)
    exact: dict[tuple[TraitUse, Type], ImplSymbol] = field(default_factory=dict)

    def add(self, impl: ImplSymbol) -> None:
        target = impl.target
        simple = isinstance(target, Named) and target.arguments == tuple(map(Generic, impl.generics))
        bounded = any(generic.bounds for generic in impl.generics)
        table = self.inherent if impl.trait is None else self.provided_by_traits
        names = table.setdefault(head_of(target), {})
        for name, function in all_methods(impl).items():
            found = names.setdefault(name, [])
            found.append(Candidate(impl, function, simple, bounded, _weight(target)))
            found.sort(key=_lighter)
        if impl.trait is not None:
            heads = self.by_trait.setdefault(impl.trait.trait, {})
            heads.setdefault(head_of(target), []).append(impl)
            if impl.generics:
                heads = self.generic.setdefault(impl.trait.trait, {})
                heads.setdefault(head_of(target), []).append(impl)
            else:
                self.exact.setdefault((impl.trait, target), impl)

    def named(self, name: str) -> Iterator[FunctionSymbol]:
        """The methods of that name of all types."""
        for table in (self.inherent, self.provided_by_traits):
            for names in table.values():
                for candidate in names.get(name, ()):
                    yield candidate.function

    def of_trait(self, use: TraitUse, target: Type) -> Iterator[ImplSymbol]:
        """Impls by which this type may meet a bound."""
        heads = self.by_trait.get(use.trait)
        if heads is None:
            return
        if is_solved(target) and all(map(is_solved, use.arguments)):
            exact = self.exact.get((use, target))
            if exact is not None:
                yield exact
            heads = self.generic.get(use.trait, {})
        head = head_of(target)
        yield from heads.get(head, ())
        if head is not None:
            yield from heads.get(None, ())

    def rivals(self, impl: ImplSymbol) -> Iterator[ImplSymbol]:
        """Other impls of its trait that might be for the same types."""
        use = impl.trait
        assert use is not None
        if not impl.generics and (use, impl.target) in self.exact:
            yield self.exact[use, impl.target]
        table, head = self.by_trait if impl.generics else self.generic, head_of(impl.target)
        for of_head, impls in table.get(use.trait, {}).items():
            if head is None or of_head is None or of_head == head:
                yield from impls

    def inherent_of(self, target: Type, name: str) -> Iterator[FunctionSymbol]:
        """Functions of that name in inherent impls of exactly this target."""
        for candidate in self.inherent.get(head_of(target), {}).get(name, ()):
            if candidate.impl.target == target or (candidate.simple and isinstance(target, Named)):
                own = {
                    g: Generic(h) for g, h in zip(candidate.impl.generics, _generics_in(target), strict=False)
                }
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

"""The impls of a program, sorted so that the methods of a type are found without looking at all of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from concerto.records import field, frozen, record
from concerto.semantics.model.symbols import (
    FunctionSymbol,
    ImplSymbol,
    TraitSymbol,
    TraitUse,
    Type,
    TypeSymbol,
)

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

"""Everything declared in a program, and the questions that the checking of bodies asks about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from concerto.diagnostics import Problems
from concerto.semantics.analysis import Analysis
from concerto.semantics.project import Project
from concerto.semantics.symbols import (
    FieldSymbol,
    FunctionSymbol,
    GenericSymbol,
    ModuleSymbol,
    Symbol,
    TraitUse,
)
from concerto.semantics.types import Type
from concerto.syntax import ast


@dataclass(frozen=True, slots=True)
class TypeScope:
    """Where a type expression or path stands. `self_type` is what `Self` means."""

    module: ModuleSymbol
    generics: Mapping[str, GenericSymbol]
    self_type: Type | None


@dataclass(frozen=True, slots=True)
class MethodMatch:
    """A method found for a receiver type. `substitution` maps the generics of its impl (or trait, `Self` included) to
    types, fresh `Unsolved` where open. `dynamic`: found through a bound, dispatched at run time."""

    function: FunctionSymbol
    substitution: dict[GenericSymbol, Type]
    dynamic: bool


class World:
    analysis: Analysis
    problems: Problems
    project: Project
    prelude: ModuleSymbol

    def resolve_type(self, node: ast.TypeExpr, scope: TypeScope) -> Type:
        """The type a type expression means; reports E0202 and, for wrong numbers of type arguments, E0302."""
        raise NotImplementedError

    def lookup(self, name: str, scope: TypeScope) -> Symbol | None:
        """What a single name means outside of locals: generics, module members, imports, prelude. Reports nothing."""
        raise NotImplementedError

    def resolve_path(
        self, segments: Sequence[ast.Ident], scope: TypeScope, extra: Iterable[str] = ()
    ) -> Symbol | None:
        """What a path means; reports E0201, E0204, E0502 or E0503 and gives None. `extra` are further names (locals)
        for the suggestion."""
        raise NotImplementedError

    def find_method(self, receiver: Type, name: str) -> MethodMatch | None:
        """The method of a value of this type: inherent before trait impls, the more special target first. A method
        whose bounds the receiver does not meet is not found; `why_not` says so."""
        raise NotImplementedError

    def why_not(self, receiver: Type, name: str) -> str | None:
        """Why a method that exists for types of this kind was not found: "`sort` needs `T: Ord`"."""
        raise NotImplementedError

    def find_associated(self, target: Type | Symbol, name: str) -> MethodMatch | None:
        """`Type::name`: a function of the type with or without self; of a trait, tool, mcp or agent likewise."""
        raise NotImplementedError

    def find_field(self, receiver: Type, name: str) -> tuple[FieldSymbol, Type] | None:
        """A field of a struct or schema value and its type there."""
        raise NotImplementedError

    def member_names(self, receiver: Type) -> list[str]:
        """Names of all fields and methods, for "did you mean"."""
        raise NotImplementedError

    def satisfies(self, type_: Type, bound: TraitUse) -> bool:
        """Whether a type meets a bound."""
        raise NotImplementedError

    def conversion(self, source: Type, target: Type) -> FunctionSymbol | Literal["native"] | None:
        """How `?` turns an error of type `source` into `target`: `impl From<source> for target`."""
        raise NotImplementedError

    def function_scope(self, function: FunctionSymbol) -> TypeScope:
        """The scope of a function's signature and body."""
        raise NotImplementedError

    def declare_block(self, items: Sequence[ast.Item], scope: TypeScope) -> TypeScope:
        """Declares the items of a block (`fn`, `struct`, `use`, …); gives the scope that sees them. Functions and methods
        declared so are added to `analysis.functions`, to be checked like all others."""
        raise NotImplementedError

    def may_use(self, symbol: Symbol, scope: TypeScope) -> bool:
        """Whether a field, method or declaration is public or belongs to the module (or a module around it)."""
        raise NotImplementedError

"""Scopes: where names and types stand, and what is found there, the values that passes exchange."""

from __future__ import annotations

from collections.abc import Mapping

from concerto.records import field, frozen
from concerto.semantics.model.impl_table import Head
from concerto.semantics.model.symbols import FunctionSymbol, GenericSymbol, ModuleSymbol, Symbol, Type
from concerto.syntax import ast


@frozen
class TypeScope:
    """Where a type expression or path stands. `self_type` is what `Self` means. `in_alias`: in an alias with
    parameters, whose uses of others are not expanded before somebody uses it."""

    module: ModuleSymbol
    generics: Mapping[str, GenericSymbol]
    self_type: Type | None
    in_alias: bool = False


@frozen
class MethodMatch:
    """A method found for a receiver type. `substitution` maps the generics of its impl (or trait, `Self`
    included) to types, fresh `Unsolved` where open. `dynamic`: found through a bound, which impl is meant is
    known when the program runs. `open` are pairs of types that are to be made equal if this one is meant;
    `others` answer to the name too, and all are of traits then, or of one trait with other arguments
    (`one_trait`). `by_head` sorts them all by the type of the first parameter, when that was asked for."""

    function: FunctionSymbol
    substitution: dict[GenericSymbol, Type]
    dynamic: bool
    open: tuple[tuple[Type, Type], ...] = ()
    others: tuple[MethodMatch, ...] = ()
    one_trait: bool = True
    by_head: dict[Head, list[MethodMatch]] = field(default_factory=dict)


@frozen
class Demand:
    """`argument` is to meet the bounds of `generic` (None: to be a map's key); `types` are all type
    arguments. `in_alias` as in `TypeScope`."""

    module: ModuleSymbol
    node: ast.Node
    argument: Type
    generic: GenericSymbol | None
    types: dict[GenericSymbol, Type]
    in_alias: bool = False


@frozen
class DeclaredItem:
    """A declaration waiting for its types and rules; `symbol` is None for what has no name, as an impl."""

    module: ModuleSymbol
    node: ast.Item
    symbol: Symbol | None

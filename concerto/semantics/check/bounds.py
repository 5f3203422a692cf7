"""Trait bounds: what generic parameters must be able to do, checked where they get their types (E0306)."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.diagnostics import TraitNotSatisfied
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.builtins import ANY, VALUE_METHODS
from concerto.semantics.model.symbols import Generic, GenericSymbol, TraitUse, Type
from concerto.semantics.typing.map_keys import KEYS_HELP, why_no_key
from concerto.semantics.typing.traits import is_own, satisfies
from concerto.semantics.typing.unify import is_erroneous, is_settled, resolve, show, substitute
from concerto.syntax import ast


def require_bounds(
    checker: BodyChecker,
    place: ast.Node,
    name: str,
    generics: Iterable[GenericSymbol],
    types: dict[GenericSymbol, Type],
) -> None:
    """Check what the generics of `name` must be able to do, when all is known."""
    bounded = [generic for generic in generics if (generic.bounds or generic.is_key) and generic in types]
    if bounded:
        checker.later.append(lambda: _check_bounds(checker, place, name, bounded, types))


def _check_bounds(
    checker: BodyChecker,
    place: ast.Node,
    name: str,
    bounded: list[GenericSymbol],
    types: dict[GenericSymbol, Type],
) -> None:
    for generic in bounded:
        type_ = resolve(types[generic])
        if not is_settled(type_) or is_erroneous(type_):
            continue
        reason = why_no_key(checker.declarations, type_) if generic.is_key and type_ != ANY else None
        if reason is not None:
            checker.report(
                TraitNotSatisfied(
                    checker.span(place),
                    f"`{name}` makes `{show(type_)}` the key of a map{reason}",
                    help=KEYS_HELP,
                )
            )
        for bound in generic.bounds:
            use = TraitUse(bound.trait, tuple(substitute(part, types) for part in bound.arguments))
            if not satisfies(checker.declarations, type_, use):
                checker.report(
                    TraitNotSatisfied(
                        checker.span(place),
                        f"`{name}` needs `{generic.name}: {bound.trait.name}`, and `{show(type_)}` is not",
                        help=_bound_help(type_, bound),
                    )
                )


def _bound_help(type_: Type, bound: TraitUse) -> str:
    if isinstance(type_, Generic):
        return f"ask for it: `{type_.symbol.name}: {bound.trait.name}`"
    if bound.trait.methods or (bound.trait in VALUE_METHODS and is_own(type_)):
        return f"write `impl {bound.trait.name} for {show(type_)} {{ … }}`"
    return ""

"""Trait bounds: what generic parameters must be able to do, checked where they get their types (E0306)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from concerto.diagnostics import TraitNotSatisfied, WrongArguments
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.builtins import ANY, ITERATOR_TRAIT
from concerto.semantics.model.symbols import (
    ErrorType,
    Generic,
    GenericSymbol,
    TraitUse,
    Type,
    Unsolved,
)
from concerto.semantics.typing.map_keys import KEYS_HELP, why_no_key
from concerto.semantics.typing.traits import (
    advice,
    base_type,
    element_of,
    is_own,
    satisfies,
    show_bound,
    substitute_bound,
    uses_met,
)
from concerto.semantics.typing.unify import (
    fresh,
    instantiate,
    is_erroneous,
    is_said,
    is_settled,
    mentions,
    resolve,
    show,
    substitute,
    unify,
    zonk,
)
from concerto.syntax import ast


def require_bounds(
    checker: BodyChecker,
    place: ast.Node,
    name: str,
    generics: Iterable[GenericSymbol],
    types: dict[GenericSymbol, Type],
) -> None:
    """Check what the generics of `name` must be able to do, when all is known."""
    asked = {generic: types[generic] for generic in generics if generic in types}
    infer_by_bounds(checker, types)
    if any(generic.bounds or generic.is_key for generic in asked):
        checker.later.append(lambda: _check_bounds(checker, place, name, asked, types))


def infer_by_bounds(checker: BodyChecker, types: dict[GenericSymbol, Type]) -> None:
    """`I: Iterator<T>`: what stands for I says what T is, and T what is unknown of it, if one way is left."""
    for generic in types:
        for bound in generic.bounds:
            type_ = resolve(types[generic])
            wanted = tuple([zonk(substitute(part, types)) for part in bound.arguments])
            if isinstance(type_, Unsolved | ErrorType) or not wanted:
                continue
            if all(part.closed for part in (zonk(type_), *wanted)):
                continue
            if bound.trait is ITERATOR_TRAIT:
                item = element_of(checker.declarations, type_)
                if item is not None and isinstance(wanted[0], Unsolved):
                    unify(wanted[0], item)
                continue
            found = uses_met(checker.declarations, type_, TraitUse(bound.trait, wanted))
            ways = list(islice(found, 2))  # A second one says enough.
            if len(ways) == 1:
                target, arguments = ways[0]
                unify(target, base_type(type_))
                for part, met in zip(wanted, arguments, strict=True):
                    unify(part, met)


def _check_bounds(
    checker: BodyChecker,
    place: ast.Node,
    name: str,
    asked: dict[GenericSymbol, Type],
    types: dict[GenericSymbol, Type],
) -> None:
    for generic in asked:
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
            _check_bound(checker, place, name, generic, bound, asked, types)


_SOME: Final = Generic(GenericSymbol(name="…"))
"""Stands in a message for a type that is not known."""


def _check_bound(
    checker: BodyChecker,
    place: ast.Node,
    name: str,
    generic: GenericSymbol,
    bound: TraitUse,
    asked: Iterable[GenericSymbol],
    types: dict[GenericSymbol, Type],
) -> None:
    type_ = resolve(types[generic])
    use = substitute_bound(bound, types)
    fits = satisfies(checker.declarations, type_, use)
    if fits and all(map(is_settled, use.arguments)):
        return
    if not fits and type_ == ANY and not is_said(types[generic]):
        report_unsaid(checker, place, name, generic)
        return
    unsaid = [
        each
        for each, found in types.items()
        if any(mentions(part, each) for part in bound.arguments) and not is_said(found)
    ]
    opened = {**types, **instantiate(unsaid)}
    ways = list(uses_met(checker.declarations, type_, substitute_bound(bound, opened))) if unsaid else []
    if len(ways) > 1 or (ways and not fits):
        help_ = _how_to_say(name, type_, bound, ways, opened, asked)
        report_unsaid(checker, place, name, unsaid[0], help_)
    elif not fits:
        shown = substitute_bound(bound, {**types, **dict.fromkeys(unsaid, _SOME)})
        message = f"`{name}` needs `{generic.name}: {show_bound(shown)}`, and `{show(type_)}` is not"
        help_ = _bound_help(checker, name, type_, shown)
        checker.report(TraitNotSatisfied(checker.span(place), message, help=help_))


def report_unsaid(
    checker: BodyChecker, place: ast.Node, name: str, generic: GenericSymbol, help_: str = ""
) -> None:
    """Nothing says what a type parameter of `name` stands for."""
    message = f"nothing says which type `{generic.name}` of `{name}` is"
    help_ = help_ or "give an argument, or what it goes into, a type"
    checker.report(WrongArguments(checker.span(place), message, help=help_))


def _how_to_say(
    name: str,
    type_: Type,
    bound: TraitUse,
    ways: list[tuple[Type, tuple[Type, ...]]],
    types: dict[GenericSymbol, Type],
    asked: Iterable[GenericSymbol],
) -> str:
    """The uses of a trait that a type has, and a call that says which is meant."""
    shown = " and ".join(f"`{show_bound(TraitUse(bound.trait, each))}`" for _, each in ways[:3])
    for part, found in zip(substitute_bound(bound, types).arguments, ways[0][1], strict=True):
        unify(part, found)
    told = ", ".join(show(types[each]) for each in asked)
    return f"`{show(type_)}` has {shown}: say which is meant, for example `{name}<{told}>(…)`"


def _bound_help(checker: BodyChecker, name: str, type_: Type, bound: TraitUse) -> str:
    if isinstance(type_, Generic):
        return f"ask for it: `{type_.symbol.name}: {show_bound(bound)}`"
    if bound.trait is ITERATOR_TRAIT and not is_own(type_):
        item = element_of(checker.declarations, type_)
        return f"`iter()` of it is an `Iterator<{show(item)}>`" if item is not None else ""
    any_use = TraitUse(bound.trait, tuple([fresh() for _ in bound.arguments]))
    others = list(islice(uses_met(checker.declarations, type_, any_use), 3))
    if len(others) > 1 and bound.arguments:
        shown = " and ".join(f"`{show_bound(TraitUse(bound.trait, each))}`" for _, each in others)
        return f"it has {shown}: write the types it is called with, `{name}<…>(…)`"
    return advice(type_, bound)

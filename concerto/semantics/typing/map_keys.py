"""Which types maps may have as keys: those that are equal by what they hold, all of it with a hash (Rust's
derived `Hash` and `Eq`), or as an `impl Eq` of their own says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from concerto.semantics.model.builtins import EQ, HASH, MAP_KEYS, option_item
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.symbols import (
    EnumSymbol,
    ErrorType,
    FieldSymbol,
    Generic,
    GenericSymbol,
    Named,
    StructSymbol,
    TraitSymbol,
    TraitUse,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.traits import base_type, find_impl
from concerto.semantics.typing.unify import show, substitute

KEYS_HELP: Final = "keys are `String`, `Int`, `Bool`, and tuples, Options, structs and enums of these"

_MOST_PARTS = 500
"""A type that contains ever larger ones of its own has more."""


def why_no_key(declarations: Declarations, type_: Type) -> str | None:
    """What keeps maps from having keys of a type, as far as it is known: a sentence's end, empty if it is the
    type as a whole; None if nothing does."""
    todo: list[tuple[Type, str]] = [(type_, "")]
    seen = set[Type]()
    while todo:
        part, place = todo.pop()
        part = base_type(part)
        if (
            part in seen
            or part in MAP_KEYS
            or part in declarations.key_types
            or isinstance(part, Generic | Unsolved | ErrorType)
        ):
            continue
        seen.add(part)
        if _has_own(declarations, part, EQ):
            if not _has_own(declarations, part, HASH):
                return f": `{show(part)}` has an `impl Eq`, and no `impl Hash` beside it"
            continue
        inside = _parts(part, place)
        if inside is None or len(seen) > _MOST_PARTS:
            return f": {place} is `{show(part)}`" if place else ""
        todo += reversed(inside)
    declarations.key_types.update(part for part in seen if part.plain)
    return None


def _has_own(declarations: Declarations, type_: Type, trait: TraitSymbol) -> bool:
    return isinstance(type_, Named) and find_impl(declarations, type_, TraitUse(trait)) is not None


def _parts(of: Type, place: str) -> list[tuple[Type, str]] | None:
    """What a key of the type consists of, each with its place; None if none has the type."""
    inner = option_item(of)
    if inner is not None:
        return [(inner, place)]
    match of:
        case TupleOf(items=items):
            return [(item, place) for item in items]
        case Named(symbol=StructSymbol(is_error=False) as struct, arguments=arguments):
            return _fields(struct.fields, struct.name, struct.generics, arguments)
        case Named(symbol=EnumSymbol() as enum, arguments=arguments):
            return [
                part
                for variant in enum.variants
                for part in _fields(variant.fields, f"{enum.name}::{variant.name}", enum.generics, arguments)
            ]
        case _:
            return None


def _fields(
    fields: Iterable[FieldSymbol], owner: str, generics: Iterable[GenericSymbol], arguments: Iterable[Type]
) -> list[tuple[Type, str]]:
    types = dict(zip(generics, arguments, strict=False))
    return [(substitute(field.type, types), f"field `{field.name}` of `{owner}`") for field in fields]

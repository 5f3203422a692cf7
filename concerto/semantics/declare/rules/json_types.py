"""Which types have a JSON Schema, so that a model can give values of them."""

from __future__ import annotations

from typing import assert_never

from concerto.records import frozen
from concerto.semantics.model.builtins import (
    ANY,
    ARRAY,
    BOOL,
    FLOAT,
    INT,
    ITERATOR,
    MAP,
    OPTION,
    PROMPT,
    RANGE,
    SET,
    STRING,
    TASK,
)
from concerto.semantics.model.symbols import (
    BuiltinSymbol,
    EnumSymbol,
    ErrorType,
    FunctionOf,
    Generic,
    Literals,
    Named,
    StructSymbol,
    TupleOf,
    Type,
    Unsolved,
)
from concerto.semantics.typing.unify import resolve, show, substitute

_PLAIN = (INT, FLOAT, STRING, BOOL, ANY, PROMPT)


@frozen
class Obstacle:
    """Why a type has no schema, and what to use instead."""

    reason: str
    help: str


def why_no_schema(type_: Type, *, generics: bool = False) -> Obstacle | None:
    """None if the type has a schema. `generics`: parameters of a generic schema count as having one."""
    return _check(type_, generics, set())


def why_no_json(type_: Type) -> Obstacle | None:
    """None if every value of the type can be told to a model."""
    return _check_told(type_, set())


def _check_told(type_: Type, seen: set[Type]) -> Obstacle | None:
    type_ = resolve(type_)
    if type_ in seen:
        return None
    seen.add(type_)
    match type_:
        case FunctionOf():
            return Obstacle("a function cannot be written as JSON", "give what the function gives")
        case TupleOf():
            parts = [("", part) for part in type_.items]
        case Named(symbol=BuiltinSymbol()):
            if type_.symbol is TASK:
                return Obstacle("a task is not what it gives", "wait for it: `….await`")
            if type_.symbol is ITERATOR:
                return Obstacle("an iterator is not what it gives", "make it an array: `….collect()`")
            parts = [("", part) for part in type_.arguments]
        case Named(symbol=StructSymbol() | EnumSymbol() as symbol):
            types = dict(zip(symbol.generics, type_.arguments, strict=True))
            holders = symbol.variants if isinstance(symbol, EnumSymbol) else [symbol]
            where = "variant" if isinstance(symbol, EnumSymbol) else "a field of"
            parts = [
                (f"{where} `{holder.name}`: ", substitute(field.type, types))
                for holder in holders
                for field in holder.fields
            ]
        case _:
            return None
    for holder_name, part in parts:
        found = _check_told(part, seen)
        if found is not None:
            return Obstacle(f"{holder_name}{found.reason}", found.help)
    return None


def _check(type_: Type, generics: bool, seen: set[Type]) -> Obstacle | None:
    """`seen` are structs that hold this type, or are known to have a schema: the first obstacle ends all."""
    type_ = resolve(type_)
    match type_:
        case Named():
            return _check_named(type_, generics, seen)
        case Literals() | ErrorType() | Unsolved():
            return None
        case Generic():
            if generics:
                return None
            return Obstacle(f"`{type_.symbol.name}` may be any type", "write the type itself")
        case TupleOf():
            return Obstacle("a tuple has no names for its parts", "use a struct, or an array")
        case FunctionOf():
            return Obstacle("a function cannot be written as JSON", "take a name or a literal union instead")
        case _:
            assert_never(type_)


def _check_named(type_: Named, generics: bool, seen: set[Type]) -> Obstacle | None:
    symbol = type_.symbol
    if type_ in _PLAIN or type_ in seen:
        return None
    match symbol:
        case BuiltinSymbol():
            return _check_builtin(type_, generics, seen)
        case StructSymbol(is_schema=True, generics=[]):
            return None  # Its fields are looked at where it is declared.
        case StructSymbol():
            if symbol.is_error:
                return Obstacle("a model does not make errors", "take its message as a `String`")
            types = dict(zip(symbol.generics, type_.arguments, strict=True))
            seen.add(type_)
            for field in symbol.fields:
                found = _check(substitute(field.type, types), generics, seen)
                if found is not None:
                    return Obstacle(f"field `{field.name}` of `{symbol.name}`: {found.reason}", found.help)
            return None
        case EnumSymbol():
            with_data = next((variant for variant in symbol.variants if variant.fields), None)
            if with_data is None:
                return None
            reason = f"variant `{symbol.name}::{with_data.name}` carries data"
            return Obstacle(reason, "use an enum without data, or a struct")
        case _:
            assert_never(symbol)


def _check_builtin(type_: Named, generics: bool, seen: set[Type]) -> Obstacle | None:
    symbol = type_.symbol
    if symbol is ARRAY or symbol is OPTION:
        return _check(type_.arguments[0], generics, seen)
    if symbol is MAP:
        key = resolve(type_.arguments[0])
        if key != STRING and not isinstance(key, ErrorType):
            return Obstacle(
                f"the keys of a JSON object are strings, not `{show(key)}`", "use `Map<String, …>`"
            )
        return _check(type_.arguments[1], generics, seen)
    if symbol is SET:
        return Obstacle("JSON has no sets", "use an array and `.to_set()`")
    if type_ == RANGE:
        return Obstacle("JSON has no ranges", "take two `Int`s")
    if symbol.name == "Result":
        return Obstacle("a model passes values, not failures", "take the value itself, or an `Option`")
    return Obstacle(f"a `{symbol.name}` cannot be written as JSON", "take a `String`, a number or a struct")

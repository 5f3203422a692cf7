"""Structural identity: values told apart by type and content, where `==` is too lenient: `1` and `1.0`
differ, NaN is itself."""

from __future__ import annotations

from collections.abc import Hashable

from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.values import (
    Err,
    ErrorValue,
    NoneOption,
    Ok,
    Range,
    Some,
    Struct,
    TypeValue,
    Value,
    Variant,
    parts_of,
)


class Unlike(Exception):
    """A value that equals nothing that could be kept: a function, a handle, one nested too deeply."""


def exact_key(value: Value) -> Hashable:
    """A stand-in that is equal for two values exactly if both type and content are; raises Unlike."""
    try:
        return _key(value)
    except RecursionError:
        raise Unlike from None


def _key(value: Value) -> Hashable:
    kind = type(value)
    match value:
        case None | bool() | int() | str():
            return kind, value
        case float():
            return kind, repr(value)
        case Range():
            numbers = value.numbers
            return kind, numbers.start, numbers.stop, numbers.step, value.inclusive
        case NoneOption():
            return (kind,)
        case list() | tuple():
            return kind, *map(_key, value)
        case dict():
            return kind, frozenset((_key(key), _key(item)) for key, item in value.items())
        case Some() | Ok() | Err():
            return kind, _key(value.value)
        case Struct() | Variant():
            return value.type_name, getattr(value, "tag", None), *map(_key, parts_of(value))
        case Set():
            return kind, frozenset(map(_key, value.items.values()))
        case Queue() | Stack():
            return kind, *map(_key, value.items)
        case ErrorValue():
            return value.type_name, value.kind, value.message, _key(value.fields)
        case TypeValue():
            return kind, value.index
        case _:
            raise Unlike

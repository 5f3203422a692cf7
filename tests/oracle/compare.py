"""Equality, order and identity of values: by content, an Int equal to the Float of the same size, a Bool to
no number."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from typing import Any

from tests.oracle import values as v


def is_number(value: v.Value) -> bool:
    return value.__class__ is int or value.__class__ is float


def equal(left: v.Value, right: v.Value) -> bool:
    if is_number(left) and is_number(right):
        return bool(left == right) if left.__class__ is right.__class__ else float(left) == float(right)
    if left.__class__ is not right.__class__:
        return False
    if isinstance(left, v.Struct | v.Variant) and v.type_name(left) == v.type_name(right):
        own = v.Own.method(left, "Eq")
        if own is not None:
            return bool(own(right))
    match left:
        case bool() | str() | None:
            return bool(left == right)
        case tuple():
            return _all_equal(left, right)
        case v.Tuple() | v.Queue() | v.Stack():
            return _all_equal(left.items, right.items)
        case v.Struct() | v.Variant():
            return left.symbol is right.symbol and _all_equal(left.fields, right.fields)
        case v.Some() | v.Ok() | v.Err():
            return equal(left.value, right.value)
        case v.Error():
            return left.name == right.name and _all_equal(
                tuple(left.fields.values()), tuple(right.fields.values())
            )
        case v.Map():
            return bool(left.entries.keys() == right.entries.keys()) and all(
                equal(value, right.entries[key][1]) for key, (_, value) in left.entries.items()
            )
        case v.Set():
            return len(left.entries) == len(right.entries) and subset(left, right)
        case v.Range():
            return bool(left.numbers() == right.numbers())
        case _:
            return left is right


def _all_equal(left: tuple[v.Value, ...], right: tuple[v.Value, ...]) -> bool:
    return len(left) == len(right) and all(equal(a, b) for a, b in zip(left, right, strict=True))


def subset(part: v.Set, whole: v.Set) -> bool:
    return all(identity(item) in whole.entries for item in part.entries.values())


def identity(value: v.Value) -> Any:
    """The same for equal values, for use as a key of Python's: another each time for what has a NaN."""
    match value:
        case bool() | str() | None:
            return (value.__class__.__name__, value)
        case float() if value != value:
            return object()
        case int() | float():
            return ("number", value)
        case tuple():
            return ("array", *map(identity, value))
        case v.Tuple() | v.Queue() | v.Stack():
            return (value.__class__.__name__, *map(identity, value.items))
        case v.Struct() | v.Variant() if v.Own.method(value, "Eq") is not None:
            return _ByEquality(value)
        case v.Struct() | v.Variant():
            return (value.symbol, *map(identity, value.fields))
        case v.Some() | v.Ok() | v.Err():
            return (value.__class__.__name__, identity(value.value))
        case v.Error():
            return (value.name, *map(identity, value.fields.values()))
        case v.Map():
            return ("map", frozenset((key, identity(held)) for key, (_, held) in value.entries.items()))
        case v.Set():
            return ("set", frozenset(map(identity, value.entries.values())))
        case v.Range():
            return ("range", value.numbers())
        case _:
            return value


class _ByEquality:
    """What a type of the program's own says is equal; without a hash it is looked for one by one."""

    def __init__(self, value: v.Value) -> None:
        self.value = value

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByEquality) and equal(self.value, other.value)


def own_order(left: v.Value, right: v.Value) -> int | None:
    """What an `impl Ord` says: below, at or above 0."""
    if not isinstance(left, v.Struct | v.Variant) or v.type_name(left) != v.type_name(right):
        return None
    own = v.Own.method(left, "Ord")
    return None if own is None else own(right)


def compare(sign: str, left: v.Value, right: v.Value) -> bool:
    """`<`, `<=`, `>`, `>=`"""
    if is_number(left) and is_number(right):
        if left.__class__ is not right.__class__:
            left, right = float(left), float(right)
    elif (order := own_order(left, right)) is not None:
        left, right = order, 0
    elif left.__class__ is not right.__class__ or not isinstance(left, bool | str | tuple | v.Tuple):
        raise _no_order(sign, left, right)
    elif isinstance(left, tuple | v.Tuple):
        return _compare_all(sign, left, right)
    return bool(_SIGNS[sign](left, right))


_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def _compare_all(sign: str, left: v.Value, right: v.Value) -> bool:
    """The first pair that is not equal decides, else the lengths."""
    ours, theirs = (left.items, right.items) if isinstance(left, v.Tuple) else (left, right)
    if isinstance(left, v.Tuple) and len(ours) != len(theirs):
        raise _no_order(sign, left, right)
    for one, other in zip(ours, theirs, strict=False):
        order = own_order(one, other)
        if order if order is not None else not equal(one, other):
            return compare(sign, one, other)
    return compare(sign, len(ours), len(theirs))


def _no_order(sign: str, left: v.Value, right: v.Value) -> v.Failure:
    message = f"`{sign}` is not defined for {v.type_name(left)} and {v.type_name(right)}"
    return v.Failure(message, "TypeError")


def make_map(entries: Iterable[tuple[v.Value, v.Value]]) -> v.Map:
    """A later entry of an equal key replaces the value, not the key's place."""
    made: dict[Hashable, tuple[v.Value, v.Value]] = {}
    for key, value in entries:
        known = identity(key)
        made[known] = (made[known][0] if known in made else key, value)
    return v.Map(made)


def make_set(items: Iterable[v.Value]) -> v.Set:
    made: dict[Hashable, v.Value] = {}
    for item in items:
        made.setdefault(identity(item), item)
    return v.Set(made)

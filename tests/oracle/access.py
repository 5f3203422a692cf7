"""Parts of values: how they are read, and how a value looks with another part."""

from __future__ import annotations

from concerto.semantics.model.analysis import FieldTarget, NamedMember, SlotField, TupleItem
from tests.oracle.compare import identity
from tests.oracle.text import text_of
from tests.oracle.values import (
    Error,
    Failure,
    Map,
    Struct,
    Tool,
    Tuple,
    Value,
    Variant,
    type_name,
)


def position(index: Value, length: int) -> int:
    if index.__class__ is not int:
        raise Failure(f"an index is an Int, found {type_name(index)}", "TypeError")
    if not 0 <= index < length:
        raise Failure(f"index {index} is out of bounds for length {length}", "IndexError")
    return int(index)


def element(value: Value, index: Value) -> Value:
    match value:
        case tuple() | str():
            return value[position(index, len(value))]
        case Tuple():
            return value.items[position(index, len(value.items))]
        case Map():
            return value.entries[_known_key(value, index)][1]
        case _:
            raise Failure(f"{type_name(value)} cannot be indexed", "TypeError")


def _known_key(value: Map, key: Value) -> object:
    _require_key(key)
    known = identity(key)
    if known not in value.entries:
        raise missing(key)
    return known


def missing(key: Value) -> Failure:
    return Failure(f"the map has no key `{text_of(key)}`", "KeyError")


def _require_key(key: Value) -> None:
    if not isinstance(key, str | int):
        raise Failure(f"a map has no keys of type {type_name(key)}", "TypeError")


def with_element(value: Value, index: Value, item: Value) -> Value:
    match value:
        case tuple():
            at = position(index, len(value))
            return (*value[:at], item, *value[at + 1 :])
        case Tuple():
            return Tuple(with_element(value.items, index, item))
        case Map():
            _require_key(index)
            known = identity(index)
            key = value.entries[known][0] if known in value.entries else index
            return Map({**value.entries, known: (key, item)})
        case _:
            raise Failure(f"an element of {type_name(value)} cannot be assigned", "TypeError")


def slice_of(value: Value, low: Value, high: Value, inclusive: bool = False) -> Value:
    if not isinstance(value, tuple | str):
        raise Failure(f"{type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else _end(low)
    end = length if high is None else _end(high) + inclusive
    if 0 <= start <= end <= length:
        return value[start:end]
    if 0 <= end < start <= length:
        raise Failure(f"the slice {start}..{end} ends before it starts", "IndexError")
    raise Failure(f"the slice {start}..{end} is out of bounds for length {length}", "IndexError")


def _end(index: Value) -> int:
    if index.__class__ is not int:
        raise Failure(f"an index is an Int, found {type_name(index)}", "TypeError")
    return int(index)


def part(value: Value, target: FieldTarget) -> Value:
    match target:
        case SlotField():
            return value.fields[target.field.index]
        case TupleItem():
            return value.items[target.index]
        case NamedMember():
            return member(value, target.name)


def member(value: Value, name: str) -> Value:
    """`.name` of an error, or of an Any."""
    match value:
        case Error() if name in value.fields:
            return value.fields[name]
        case Struct():
            for field in value.symbol.fields:
                if field.name == name:
                    return value.fields[field.index]
        case Map():
            return element(value, name)
        case Tuple() if name.isdigit() and int(name) < len(value.items):
            return value.items[int(name)]
    raise Failure(f"{type_name(value)} has no member `{name}`", "TypeError")


def with_part(value: Value, target: FieldTarget, item: Value) -> Value:
    match target:
        case SlotField() if isinstance(value, Tool):
            value.fields[target.field.index] = item
            return value
        case SlotField():
            return _with_field(value, target.field.index, item)
        case TupleItem():
            return Tuple(with_element(value.items, target.index, item))
        case NamedMember():
            return _with_member(value, target.name, item)


def _with_field(value: Struct | Variant, index: int, item: Value) -> Value:
    fields = value.fields
    return type(value)(value.symbol, (*fields[:index], item, *fields[index + 1 :]))  # type: ignore[arg-type]


def _with_member(value: Value, name: str, item: Value) -> Value:
    match value:
        case Map():
            return with_element(value, name, item)
        case Struct():
            for field in value.symbol.fields:
                if field.name == name:
                    return _with_field(value, field.index, item)
        case Tuple() if name.isdigit() and int(name) < len(value.items):
            return Tuple(with_element(value.items, int(name), item))
    raise Failure(f"member `{name}` of {type_name(value)} cannot be assigned", "TypeError")

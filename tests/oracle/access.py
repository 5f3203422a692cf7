"""Parts of values: how they are read, and how a value looks with another part."""

from __future__ import annotations

from concerto.semantics.model import analysis as an
from tests.oracle import values as v
from tests.oracle.compare import identity
from tests.oracle.numbers import checked
from tests.oracle.text import text_of


def position(index: v.Value, length: int) -> int:
    if index.__class__ is not int:
        raise v.Failure(f"an index is an Int, found {v.type_name(index)}", "TypeError")
    if not 0 <= index < length:
        raise v.Failure(f"index {index} is out of bounds for length {length}", "IndexError")
    return int(index)


def element(value: v.Value, index: v.Value) -> v.Value:
    match value:
        case tuple() | str():
            return value[position(index, len(value))]
        case v.Tuple():
            return value.items[position(index, len(value.items))]
        case v.Map():
            return value.entries[_known_key(value, index)][1]
        case _:
            raise v.Failure(f"{v.type_name(value)} cannot be indexed", "TypeError")


def _known_key(value: v.Map, key: v.Value) -> object:
    _require_key(key)
    known = identity(key)
    if known not in value.entries:
        raise missing(key)
    return known


def missing(key: v.Value) -> v.Failure:
    return v.Failure(f"the map has no key `{text_of(key)}`", "KeyError")


def _require_key(key: v.Value) -> None:
    if not isinstance(key, str | int):
        raise v.Failure(f"a map has no keys of type {v.type_name(key)}", "TypeError")


def with_element(value: v.Value, index: v.Value, item: v.Value) -> v.Value:
    match value:
        case tuple():
            at = position(index, len(value))
            return (*value[:at], item, *value[at + 1 :])
        case v.Tuple():
            return v.Tuple(with_element(value.items, index, item))
        case v.Map():
            _require_key(index)
            known = identity(index)
            key = value.entries[known][0] if known in value.entries else index
            return v.Map({**value.entries, known: (key, item)})
        case _:
            raise v.Failure(f"an element of {v.type_name(value)} cannot be assigned", "TypeError")


def slice_of(value: v.Value, low: v.Value, high: v.Value, inclusive: bool = False) -> v.Value:
    if not isinstance(value, tuple | str):
        raise v.Failure(f"{v.type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else _end(low)
    end = length if high is None else checked(_end(high) + inclusive)
    if 0 <= start <= end <= length:
        return value[start:end]
    if 0 <= end < start:
        raise v.Failure(f"the slice {start}..{end} ends before it starts", "IndexError")
    raise v.Failure(f"the slice {start}..{end} is out of bounds for length {length}", "IndexError")


def _end(index: v.Value) -> int:
    if index.__class__ is not int:
        raise v.Failure(f"an index is an Int, found {v.type_name(index)}", "TypeError")
    return int(index)


def part(value: v.Value, target: an.FieldTarget) -> v.Value:
    match target:
        case an.SlotField():
            return value.fields[target.field.index]
        case an.TupleItem():
            return value.items[target.index]
        case an.NamedMember():
            return member(value, target.name)


def member(value: v.Value, name: str) -> v.Value:
    """`.name` of an error, or of an Any."""
    match value:
        case v.Error() if name in value.fields:
            return value.fields[name]
        case v.Struct() | v.Variant() if isinstance(value, v.Struct) or value.symbol.named:
            for field in value.symbol.fields:
                if field.name == name:
                    return value.fields[field.index]
        case v.Map():
            return element(value, name)
        case v.Tuple() if name.isdigit() and int(name) < len(value.items):
            return value.items[int(name)]
    raise v.Failure(f"{v.type_name(value)} has no member `{name}`", "TypeError")


def with_part(value: v.Value, target: an.FieldTarget, item: v.Value) -> v.Value:
    match target:
        case an.SlotField() if isinstance(value, v.Tool):
            value.fields[target.field.index] = item
            return value
        case an.SlotField():
            return _with_field(value, target.field.index, item)
        case an.TupleItem():
            return v.Tuple(with_element(value.items, target.index, item))
        case an.NamedMember():
            return _with_member(value, target.name, item)


def _with_field(value: v.Struct | v.Variant, index: int, item: v.Value) -> v.Value:
    fields = value.fields
    return type(value)(value.symbol, (*fields[:index], item, *fields[index + 1 :]))  # type: ignore[arg-type]


def _with_member(value: v.Value, name: str, item: v.Value) -> v.Value:
    match value:
        case v.Map():
            return with_element(value, name, item)
        case v.Struct() | v.Variant() if isinstance(value, v.Struct) or value.symbol.named:
            for field in value.symbol.fields:
                if field.name == name:
                    return _with_field(value, field.index, item)
        case v.Tuple() if name.isdigit() and int(name) < len(value.items):
            return v.Tuple(with_element(value.items, int(name), item))
    raise v.Failure(f"member `{name}` of {v.type_name(value)} cannot be assigned", "TypeError")

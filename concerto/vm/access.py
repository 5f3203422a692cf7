"""Reading and writing parts of values: by index, by key, by name.

These are the checked forms. Generated code writes `items[i]` directly where it can and comes here for the
rest; both end in the same failures.
"""

from __future__ import annotations

from concerto.annotating import Any
from concerto.vm.copying import copy_value
from concerto.vm.equality import alike
from concerto.vm.operations import to_text, type_name
from concerto.vm.type_checks import TypeChecks
from concerto.vm.values import (
    OWN_FIELDS,
    ErrorValue,
    Handle,
    NoneOption,
    Raised,
    Some,
    Struct,
    Value,
    Variant,
    failure,
    parts_of,
)

_PLAIN_KEYS = frozenset({str, int, bool})


def out_of_bounds(position: Value, items: Value) -> Raised:
    return failure(f"index {position} is out of bounds for length {len(items)}", "IndexError")


def missing_key(key: Value) -> Raised:
    return failure(f"the map has no key `{to_text(key)}`", "KeyError")


def index_sequence(items: Any, position: int) -> Value:
    """An element of an array, or a code point of a string."""
    if 0 <= position < len(items):
        return items[position]
    raise out_of_bounds(position, items)


def set_index_array(items: list[Value], position: int, item: Value) -> None:
    if not 0 <= position < len(items):
        raise out_of_bounds(position, items)
    items[position] = item


def index_map(items: dict[Value, Value], key: Value) -> Value:
    try:
        return items[key]
    except KeyError:
        raise missing_key(key) from None


def index(value: Value, position: Value) -> Value:
    """`value[position]` where the type is known only now."""
    kind = type(value)
    if kind is dict:
        if not may_have(value, map_key(position)):
            raise missing_key(position)
        return index_map(value, position)
    if kind in (list, str, tuple):
        return index_sequence(value, _position(position))
    raise failure(f"{type_name(value)} cannot be indexed", "TypeError")


def with_index(value: Value, position: Value, item: Value) -> Value:
    """`value` with an element, itself changed unless it is a tuple."""
    if type(value) is dict:
        value[fitting_key(value, position)] = item
    elif type(value) is list:
        set_index_array(value, _position(position), item)
    elif type(value) is tuple:
        index_sequence(value, _position(position))
        return with_item(value, position, item)
    else:
        raise failure(f"an element of {type_name(value)} cannot be assigned", "TypeError")
    return value


def _position(position: Value) -> int:
    if type(position) is int:
        return position
    raise failure(f"an index is an Int, found {type_name(position)}", "TypeError")


def map_key(key: Value) -> Value:
    """A value that may be the key of some map."""
    kind = type(key)
    if kind in _PLAIN_KEYS or kind is NoneOption:
        return key
    parts = None
    if kind is tuple:
        parts = key
    elif kind is Some:
        parts = (key.value,)
    elif isinstance(key, Struct | Variant):
        parts = () if key.own is not None and key.own.equals is not None else parts_of(key)
    if parts is not None:
        for item in parts:
            map_key(item)
        return key
    raise failure(f"a map has no keys of type {type_name(key)}", "TypeError")


def may_have(entries: dict[Value, Value], key: Value) -> bool:
    """Whether a key is of the type that all keys of the map have: Python takes true for 1."""
    first = next(iter(entries), key)
    return (type(key) in _PLAIN_KEYS and type(first) is type(key)) or alike(first, key)


def fitting_key(entries: dict[Value, Value], key: Value) -> Value:
    """A new key of a map."""
    if may_have(entries, map_key(key)):
        return key
    known = type_name(next(iter(entries)))
    raise failure(f"the map has keys of type `{known}`, found `{type_name(key)}`", "TypeError")


def slice_of(value: Value, low: Value, high: Value) -> Value:
    """A copy of a part of an array or string; nil is an open end."""
    if type(value) not in (list, str):
        raise failure(f"{type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else _position(low)
    end = length if high is None else _position(high)
    if 0 <= start <= end <= length:
        return value[start:end]
    if 0 <= end < start:
        raise failure(f"the slice {start}..{end} ends before it starts", "IndexError")
    raise failure(f"the slice {start}..{end} is out of bounds for length {length}", "IndexError")


def start_of(value: Value, start: int) -> int:
    """Where a search begins: where the slice `value[start..]` may, and with the same failure elsewhere."""
    if not 0 <= start <= len(value):
        slice_of(value, start, None)
    return start


def get_member(value: Value, name: str) -> Value:
    """`value.name` where the type is known only now, or the members are not slots."""
    match value:
        case ErrorValue():
            if name == "message":
                return value.message
            if name == "kind":
                return value.kind
            if name in value.fields:
                return value.fields[name]
            if name in OWN_FIELDS.get(value.type_name, ()):
                return copy_value(OWN_FIELDS[value.type_name][name])
        case dict():
            return index_map(value, name)
        case Struct():
            if name in value.field_names:
                return getattr(value, f"f{value.field_names.index(name)}")
        case Variant() if value.named and name in value.field_names:
            return getattr(value, f"f{value.field_names.index(name)}")
        case tuple() if name.isdecimal() and int(name) < len(value):
            return value[int(name)]
        case Handle():
            return value.member(name)
        case _:
            pass
    raise failure(f"{type_name(value)} has no member `{name}`", "TypeError")


def own_member(checks: TypeChecks, value: Value, name: str) -> Value:
    """A member that is changed and then put back: a copy where it must be of a type."""
    item = get_member(value, name)
    if isinstance(value, Struct | Variant) and checks.field(value, name) is None:
        return item
    return item if type(value) is dict else copy_value(item)


def with_member(checks: TypeChecks, value: Value, name: str, item: Value) -> Value:
    """`value` with a member, itself changed unless it is a tuple or of an enum. What a field gets is made one
    of its type."""
    match value:
        case dict():
            value[fitting_key(value, name)] = item
            return value
        case tuple() if name.isdecimal() and int(name) < len(value):
            return with_item(value, int(name), item)
        case Struct() | Variant() if name in value.field_names and (isinstance(value, Struct) or value.named):
            check = checks.field(value, name)
            given = item if check is None else check(item)
            slot = value.field_names.index(name)
            if isinstance(value, Variant):
                return type(value)(*with_item(tuple(parts_of(value)), slot, given))
            setattr(value, f"f{slot}", given)
            return value
        case _:
            raise failure(f"member `{name}` of {type_name(value)} cannot be assigned", "TypeError")


def with_item(value: tuple[Value, ...], slot: int, item: Value) -> tuple[Value, ...]:
    return (*value[:slot], item, *value[slot + 1 :])


def replace(place: Value, value: Value) -> None:
    """Gives a struct, which others may refer to, the fields of another one."""
    if not isinstance(place, Struct):
        raise failure(f"a value of type {type_name(place)} cannot be replaced in place", "TypeError")
    for slot, item in enumerate(parts_of(value)):
        setattr(place, f"f{slot}", item)

"""Methods of Map. Keys keep the order of their first insertion.

All keys of a map have one type. An Any lets others come here, and Python takes `true` for 1.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Final

from concerto.vm.access import fitting_key, may_have, missing_key
from concerto.vm.native import native
from concerto.vm.values import NONE, Some, Value

_MISSING: Final = object()


@native("Map::len", inline="len({0})")
def length(entries: dict[Value, Value]) -> int:
    return len(entries)


@native("Map::is_empty", inline="(not {0})")
def is_empty(entries: dict[Value, Value]) -> bool:
    return not entries


@native("Map::get", opens="{first}.get({key}, MISSING)")
def get(entries: dict[Value, Value], key: Value) -> Value:
    return Some(entries[key]) if has(entries, key) else NONE


@native("Map::has", inline="{0}.__contains__({1})")
@native("Map::contains_key", inline="{0}.__contains__({1})")
def has(entries: dict[Value, Value], key: Value) -> bool:
    # What is of another type may be no key of any map.
    return bool(entries) and may_have(entries, key) and key in entries


@native("Map::keys", inline="list({0})")
def keys(entries: dict[Value, Value]) -> list[Value]:
    return list(entries)


@native("Map::values", inline="list({0}.values())")
def values(entries: dict[Value, Value]) -> list[Value]:
    return list(entries.values())


@native("Map::entries", inline="list({0}.items())")
def pairs(entries: dict[Value, Value]) -> list[tuple[Value, Value]]:
    return list(entries.items())


@native("Map::map_values")
def map_values(entries: dict[Value, Value], change: Callable[[Value], Value]) -> dict[Value, Value]:
    return {key: change(value) for key, value in entries.items()}


@native("Map::filter")
def filtered(entries: dict[Value, Value], accept: Callable[[Value, Value], bool]) -> dict[Value, Value]:
    return {key: value for key, value in entries.items() if accept(key, value)}


@native("Map::merge", inline="({0} | {1})")
def merge(entries: dict[Value, Value], other: dict[Value, Value]) -> dict[Value, Value]:
    for key in islice(other, 1):
        fitting_key(entries, key)
    return entries | other


@native("Map::merge_owned")
def merge_owned(entries: dict[Value, Value], other: dict[Value, Value]) -> dict[Value, Value]:
    for key in islice(other, 1):
        fitting_key(entries, key)
    entries |= other
    return entries


@native("Map::set", inline="{0}.__setitem__({1}, {2})")
def put(entries: dict[Value, Value], key: Value, value: Value) -> None:
    entries[fitting_key(entries, key)] = value


@native("Map::insert")
def insert(entries: dict[Value, Value], key: Value, value: Value) -> Value:
    old = entries.get(fitting_key(entries, key), _MISSING)
    entries[key] = value
    return NONE if old is _MISSING else Some(old)


@native("Map::remove", opens="{first}.pop({key}, MISSING)", changes=True)
def remove(entries: dict[Value, Value], key: Value) -> Value:
    return Some(entries.pop(key)) if has(entries, key) else NONE


@native("Map::delete")
def delete(entries: dict[Value, Value], key: Value) -> bool:
    return remove(entries, key) is not NONE


@native("Map::clear", inline="{0}.clear()")
def clear(entries: dict[Value, Value]) -> None:
    entries.clear()


@native("Map::update")
def update(entries: dict[Value, Value], key: Value, change: Callable[[Value], Value]) -> None:
    if not has(entries, key):
        raise missing_key(key)
    entries[key] = change(entries[key])

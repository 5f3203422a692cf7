"""Methods of Array that read: everything returned is a new array.

Plain loops and comprehensions call the program's functions without growing the C stack, which `map`, `any`
or a generator would do: recursion through closures stays as deep as any other. What changes an array is in
`array_changes`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import concerto.natives.array_changes
import concerto.natives.set  # noqa: F401 - both register methods of Array
from concerto.natives import limits
from concerto.vm import sizes
from concerto.vm.access import slice_of
from concerto.vm.arithmetic import checked
from concerto.vm.native import native
from concerto.vm.operations import equal, hash_key, type_name
from concerto.vm.values import NONE, Some, Value, failure

native("Array::slice")(slice_of)


@native("Array::len", inline="len({0})")
def length(items: list[Value]) -> int:
    return len(items)


@native("Array::is_empty", inline="(not {0})")
def is_empty(items: list[Value]) -> bool:
    return not items


@native("Array::get")
def get(items: list[Value], index: int) -> Value:
    return Some(items[index]) if 0 <= index < len(items) else NONE


@native("Array::first")
def first(items: list[Value]) -> Value:
    return Some(items[0]) if items else NONE


@native("Array::last")
def last(items: list[Value]) -> Value:
    return Some(items[-1]) if items else NONE


@native("Array::contains")
def contains(items: list[Value], wanted: Value) -> bool:
    return _position(items, wanted) >= 0


@native("Array::index_of")
def index_of(items: list[Value], wanted: Value) -> Value:
    position = _position(items, wanted)
    return NONE if position < 0 else Some(position)


@native("Array::map")
def mapped(items: list[Value], change: Callable[[Value], Value]) -> list[Value]:
    return [change(item) for item in items]


@native("Array::filter")
def filtered(items: list[Value], accept: Callable[[Value], bool]) -> list[Value]:
    return [item for item in items if accept(item)]


@native("Array::fold")
@native("Array::reduce")
def fold(items: list[Value], start: Value, combine: Callable[[Value, Value], Value]) -> Value:
    result = start
    for item in items:
        result = combine(result, item)
    return result


@native("Array::find")
def find(items: list[Value], accept: Callable[[Value], bool]) -> Value:
    for item in items:
        if accept(item):
            return Some(item)
    return NONE


@native("Array::any")
def any_of(items: list[Value], accept: Callable[[Value], bool]) -> bool:
    for item in items:  # noqa: SIM110 - see the module's docstring
        if accept(item):
            return True
    return False


@native("Array::all")
def all_of(items: list[Value], accept: Callable[[Value], bool]) -> bool:
    for item in items:  # noqa: SIM110
        if not accept(item):
            return False
    return True


@native("Array::count")
def count(items: list[Value], accept: Callable[[Value], bool]) -> int:
    total = 0
    for item in items:
        if accept(item):
            total += 1
    return total


@native("Array::sum")
def total(*given: Value) -> int | float:
    """Called with the type of the elements, which an empty array cannot tell; without it on an Any."""
    items = given[-1]
    start = 0.0 if len(given) == 2 and given[0].name == "Float" else 0
    try:
        result: int | float = sum(items, start)
    except TypeError:
        raise failure("`sum` needs an array of numbers", "TypeError") from None
    return checked(result) if isinstance(result, int) else result


@native("Array::min")
def smallest(items: list[Value]) -> Value:
    ordered = _without_nan(items)
    return Some(_ordered(min, ordered)) if ordered else NONE


@native("Array::max")
def largest(items: list[Value]) -> Value:
    ordered = _without_nan(items)
    return Some(_ordered(max, ordered)) if ordered else NONE


@native("Array::sort")
def ordered(items: list[Value]) -> list[Value]:
    """Stable; NaN comes after every number."""
    if _has_nan(items):
        return sorted(items, key=_nan_last)
    result: list[Value] = _ordered(sorted, items)
    return result


@native("Array::sort_by")
def sort_by(items: list[Value], compare: Callable[[Value, Value], int]) -> list[Value]:
    key = cmp_to_key(compare)
    # The keys of all elements are made before the first comparison: in Python, where the run can be stopped.
    return sorted(items, key=lambda item: key(item))


@native("Array::sort_by_key")
def sort_by_key(items: list[Value], key: Callable[[Value], Value]) -> list[Value]:
    keys = [key(item) for item in items]
    by_key = _nan_last if _has_nan(keys) else _same
    positions = _ordered(lambda numbers: sorted(numbers, key=lambda i: by_key(keys[i])), range(len(items)))
    return [items[position] for position in positions]


@native("Array::reverse", inline="{0}[::-1]")
def reverse(items: list[Value]) -> list[Value]:
    return items[::-1]


@native("Array::join")
def join(items: list[str], separator: str) -> str:
    return sizes.join(items, separator)


@native("Array::concat", inline="({0} + {1})")
def concat(items: list[Value], other: list[Value]) -> list[Value]:
    return items + other


@native("Array::take")
def take(items: list[Value], number: int) -> list[Value]:
    return items[: limits.count(number, "a number of elements")]


@native("Array::skip")
def skip(items: list[Value], number: int) -> list[Value]:
    return items[limits.count(number, "a number of elements") :]


@native("Array::zip", inline="list(zip({0}, {1}))")
def zipped(items: list[Value], other: list[Value]) -> list[tuple[Value, Value]]:
    return list(zip(items, other, strict=False))


@native("Array::flatten")
def flatten(items: list[list[Value]]) -> list[Value]:
    return [item for inner in items for item in inner]


@native("Array::flat_map")
def flat_map(items: list[Value], change: Callable[[Value], list[Value]]) -> list[Value]:
    return [part for item in items for part in change(item)]


@native("Array::enumerate", inline="list(enumerate({0}))")
def enumerated(items: list[Value]) -> list[tuple[int, Value]]:
    return list(enumerate(items))


@native("Array::unique")
def unique(items: list[Value]) -> list[Value]:
    if set(map(type, items)) <= {str}:
        return list(dict.fromkeys(items))
    seen: dict[Value, Value] = {}
    for item in items:
        seen.setdefault(hash_key(item), item)
    return list(seen.values())


@native("Array::chunks")
def chunks(items: list[Value], length: int) -> list[list[Value]]:
    if length < 1:
        raise failure(f"a chunk has at least one element, found {length}", "ValueError")
    return [items[start : start + length] for start in range(0, len(items), length)]


@native("Array::group_by")
def group_by(items: list[Value], key: Callable[[Value], Value]) -> dict[Value, list[Value]]:
    groups: dict[Value, list[Value]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _position(items: list[Value], wanted: Value) -> int:
    if type(wanted) is str:
        # Only strings equal strings, so that Python's own search is right here.
        return items.index(wanted) if wanted in items else -1
    for position, item in enumerate(items):
        if equal(item, wanted):
            return position
    return -1


def _ordered(order: Callable[[Any], Any], items: Any) -> Any:
    """Apply `sorted`, `min` or `max`; an Any may have let values without a common order through."""
    try:
        return order(items)
    except TypeError:
        kinds = ", ".join(f"`{kind}`" for kind in sorted({type_name(item) for item in items}))
        raise failure(f"no order is defined among {kinds}", "TypeError") from None


def _has_nan(items: list[Value]) -> bool:
    """The sum of floats is NaN whenever one of them is; only then a closer look is needed."""
    if not items or type(items[0]) is not float:
        return False
    try:
        total = sum(items)
    except TypeError:
        return False
    return total != total and any(item != item for item in items)


def _without_nan(items: list[Value]) -> list[Value]:
    return [item for item in items if item == item] or items if _has_nan(items) else items


def _nan_last(number: float) -> tuple[bool, float]:
    return (True, 0.0) if number != number else (False, number)


def _same(value: Value) -> Value:
    return value

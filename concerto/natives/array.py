"""Methods of Array that read: everything returned is a new array.

Plain loops and comprehensions call the program's functions without growing the C stack, which `map`, `any`
or a generator would do: recursion through closures stays as deep as any other. What changes an array is in
`array_changes`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cmp_to_key, partial, reduce
from math import isnan
from operator import add, eq
from typing import Any, Final

import concerto.natives.array_changes
import concerto.natives.array_collecting
import concerto.natives.set  # noqa: F401 - all register methods of Array
from concerto.natives import limits
from concerto.vm import sizes
from concerto.vm.access import fitting_key, slice_of, start_of
from concerto.vm.arithmetic import checked
from concerto.vm.equality import equal, is_found_by_python
from concerto.vm.native import native
from concerto.vm.operations import OWN_KEYS, compare, hash_key, type_name
from concerto.vm.values import (
    NONE,
    Ok,
    OptionValue,
    Raised,
    ResultValue,
    Some,
    Struct,
    Value,
    Variant,
    failure,
)

native("Array::slice")(slice_of)


@native("Array::len", inline="len({0})")
def length(items: list[Value]) -> int:
    return len(items)


@native("Array::is_empty", inline="(not {0})")
def is_empty(items: list[Value]) -> bool:
    return not items


@native("Array::get", opens="")
def get(items: list[Value], index: int) -> Value:
    return Some(items[index]) if 0 <= index < len(items) else NONE


@native("Array::first", opens="({again}[0] if {first} else MISSING)")
def first(items: list[Value]) -> Value:
    return Some(items[0]) if items else NONE


@native("Array::last", opens="({again}[-1] if {first} else MISSING)")
def last(items: list[Value]) -> Value:
    return Some(items[-1]) if items else NONE


@native("Array::contains")
def contains(items: list[Value], wanted: Value) -> bool:
    return _position(items, wanted) >= 0


@native("Array::contains_plain", inline="{0}.__contains__({1})")
def contains_plain(items: list[Value], wanted: Value) -> bool:
    """Of a type whose values Python compares as the language does."""
    return wanted in items


@native("Array::index_of")
def index_of(items: list[Value], wanted: Value, start: int = 0) -> Value:
    position = _position(slice_of(items, start, None) if start else items, wanted)
    return NONE if position < 0 else Some(start + position)


@native("Array::index_of_plain", opens="")
def index_of_plain(items: list[Value], wanted: Value, start: int = 0) -> Value:
    if not start:
        return Some(items.index(wanted)) if wanted in items else NONE
    try:
        return Some(items.index(wanted, start_of(items, start)))
    except ValueError:
        return NONE


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


@native("Array::find", opens="")
def find(items: list[Value], accept: Callable[[Value], bool]) -> Value:
    for item in items:
        if accept(item):
            return Some(item)
    return NONE


@native("Array::position", opens="")
def position(items: list[Value], accept: Callable[[Value], bool]) -> Value:
    for index, item in enumerate(items):
        if accept(item):
            return Some(index)
    return NONE


@native("Array::partition")
def partition(items: list[Value], accept: Callable[[Value], bool]) -> tuple[list[Value], list[Value]]:
    accepted: list[Value] = []
    others: list[Value] = []
    for item in items:
        (accepted if accept(item) else others).append(item)
    return accepted, others


@native("Array::filter_map")
def filter_map(items: list[Value], change: Callable[[Value], OptionValue]) -> list[Value]:
    return [made.value for item in items if (made := change(item)) is not NONE]


@native("Array::try_map")
def try_map(items: list[Value], change: Callable[[Value], ResultValue]) -> Value:
    changed = []
    for item in items:
        made = change(item)
        if type(made) is not Ok:
            return made
        changed.append(made.value)
    return Ok(changed)


@native("Array::scan")
def scan(items: list[Value], start: Value, combine: Callable[[Value, Value], Value]) -> list[Value]:
    result = start
    return [result := combine(result, item) for item in items]


@native("Array::take_while")
def take_while(items: list[Value], accept: Callable[[Value], bool]) -> list[Value]:
    return items[: _first_refused(items, accept)]


@native("Array::skip_while")
def skip_while(items: list[Value], accept: Callable[[Value], bool]) -> list[Value]:
    return items[_first_refused(items, accept) :]


def _first_refused(items: list[Value], accept: Callable[[Value], bool]) -> int:
    for index, item in enumerate(items):
        if not accept(item):
            return index
    return len(items)


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
    if len(given) == 2 and given[0].name == "Float":
        return _sum_of_floats(items)
    kinds = set(map(type, items))
    if not kinds <= {int, float}:
        raise failure("`sum` needs an array of numbers", "TypeError")
    return _sum_of_floats(items) if float in kinds else checked(sum(items))


def _sum_of_floats(items: list[Value]) -> float:
    """From left to right: Python's own `sum` rounds in another way from 3.12 on."""
    result: float = sum(items, 0.0) if sys.version_info < (3, 12) else reduce(add, items, 0.0)
    return result


@native("Array::min")
@native("Array::min_float")
def smallest(items: list[Value]) -> Value:
    return _outermost(items, min)


@native("Array::max")
@native("Array::max_float")
def largest(items: list[Value]) -> Value:
    return _outermost(items, max)


@native("Array::min_plain", opens="(min({again}) if {first} else MISSING)")
def smallest_plain(items: list[Value]) -> Value:
    return Some(min(items)) if items else NONE


@native("Array::max_plain", opens="(max({again}) if {first} else MISSING)")
def largest_plain(items: list[Value]) -> Value:
    return Some(max(items)) if items else NONE


@native("Array::sort_plain", inline="sorted({0})")
def sorted_plain(items: list[Value]) -> list[Value]:
    return sorted(items)


def _outermost(items: list[Value], choose: Callable[..., Value]) -> Value:
    kinds = {*map(type, items)}
    # A sum is NaN if one of the numbers is, or, seldom, if two are infinite.
    if len(kinds) == 1 and (kinds <= _ORDERED or (float in kinds and not isnan(sum(items)))):
        return Some(choose(items))
    if float in map(type, items):
        items = [item for item in items if item == item] or items
    if not items:
        return NONE
    return Some(choose(items, key=_order_key(items)))


@native("Array::sort")
def ordered(items: list[Value]) -> list[Value]:
    """Stable; NaN comes after every number."""
    return sorted(items, key=_order_key(items))


@native("Array::sort_by")
def sort_by(items: list[Value], compare: Callable[[Value, Value], int]) -> list[Value]:
    key = cmp_to_key(compare)
    # The keys of all elements are made before the first comparison: in Python, where the run can be stopped.
    return sorted(items, key=lambda item: key(item))


@native("Array::sort_by_keys")
def sort_by_keys(items: list[Value], keys: list[Value]) -> list[Value]:
    """With the key of each element."""
    in_order = _order_key(keys)
    return sort_by_keys_plain(items, keys if in_order is None else map(in_order, keys))


@native("Array::sort_by_keys_plain")
def sort_by_keys_plain(items: list[Value], keys: Iterable[Value]) -> list[Value]:
    # Python asks for the keys of the elements in their order.
    return sorted(items, key=partial(next, iter(keys)))


@native("Array::min_by_keys_plain")
def min_by_keys_plain(items: list[Value], keys: list[Value]) -> Value:
    return Some(items[keys.index(min(keys))]) if items else NONE


@native("Array::max_by_keys_plain")
def max_by_keys_plain(items: list[Value], keys: list[Value]) -> Value:
    return Some(items[-1 - keys[::-1].index(max(keys))]) if items else NONE


@native("Array::min_by_keys")
def min_by_keys(items: list[Value], keys: list[Value]) -> Value:
    return _outermost_by(items, keys, min)


@native("Array::max_by_keys")
def max_by_keys(items: list[Value], keys: list[Value]) -> Value:
    """The last of several, as in Rust."""
    return _outermost_by(items[::-1], keys[::-1], max)


def _by_key(method: str, by_keys: Callable[[list[Value], list[Value]], Value]) -> None:
    def by_key(items: list[Value], key: Callable[[Value], Value]) -> Value:
        return by_keys(items, [key(item) for item in items])

    native(f"Array::{method}")(by_key)


_by_key("sort_by_key", sort_by_keys)
_by_key("min_by_key", min_by_keys)
_by_key("max_by_key", max_by_keys)
_by_key("sort_by_key_plain", sort_by_keys_plain)
_by_key("min_by_key_plain", min_by_keys_plain)
_by_key("max_by_key_plain", max_by_keys_plain)


def _outermost_by(items: list[Value], keys: list[Value], choose: Callable[..., Value]) -> Value:
    """The first with the outermost key; NaN is none if there are others."""
    if not items:
        return NONE
    in_order = _order_key(keys)
    if in_order is None:
        return Some(items[keys.index(choose(keys))])
    numbers = [place for place, key in enumerate(keys) if key == key]
    return Some(items[choose(numbers or range(len(keys)), key=lambda place: in_order(keys[place]))])


@native("Array::reverse", inline="{0}[::-1]")
def reverse(items: list[Value]) -> list[Value]:
    return items[::-1]


@native("Array::join")
def join(items: list[str], separator: str) -> str:
    try:
        if len(items) > sizes.FEW_TEXTS:
            return sizes.join(items, separator)
        text = separator.join(items)
        return text if len(text) <= sizes.MAX_ELEMENTS else sizes.too_long(text)
    except TypeError:
        if {str}.issuperset(map(type, items)):
            raise
        raise _holds_another(items, str) from None


@native("Array::concat", inline="({0} + {1})")
def concat(items: list[Value], other: list[Value]) -> list[Value]:
    return items + other


@native("Array::concat_owned")
def concat_owned(items: list[Value], other: list[Value]) -> list[Value]:
    """Of a receiver that nobody looks at any more, as all that are called so."""
    items += other
    return items


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
    if not {list}.issuperset(map(type, items)):
        raise _holds_another(items, list)
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


@native("Array::dedup")
def dedup(items: list[Value]) -> list[Value]:
    return [item for at, item in enumerate(items) if not at or not _is_one(item, items[at - 1])]


def _is_one(item: Value, other: Value) -> bool:
    """Whether two are one element of a set: exactly equal, as what is sorted."""
    return equal(item, other) and (type(item) is type(other) in _ORDERED or hash_key(item) == hash_key(other))


@native("Array::windows")
def windows(items: list[Value], length: int) -> list[list[Value]]:
    if length < 1:
        raise failure(f"a window has at least one element, found {length}", "ValueError")
    return [items[start : start + length] for start in range(len(items) - length + 1)]


@native("Array::chunks")
def chunks(items: list[Value], length: int) -> list[list[Value]]:
    if length < 1:
        raise failure(f"a chunk has at least one element, found {length}", "ValueError")
    return [items[start : start + length] for start in range(0, len(items), length)]


@native("Array::group_by")
def group_by(items: list[Value], key: Callable[[Value], Value]) -> dict[Value, list[Value]]:
    groups: dict[Value, list[Value]] = {}
    fitting: set[object] = set()
    for item in items:
        name = key(item)
        kind = type(name)
        if kind not in fitting:
            shape = (kind, *map(type, name)) if kind is tuple else _shape(name)
            if shape not in fitting:
                fitting_key(groups, name)
                if _is_whole(shape):
                    fitting.add(shape)
        group = groups.get(name)
        if group is None:
            groups[name] = [item]
        else:
            group.append(item)
    return groups


def _shape(key: Value) -> type | tuple[type, ...]:
    """What a key is made of: its type, and those of its fields."""
    kind = type(key)
    if getattr(kind, "field_names", ()):
        return (kind, *map(type, kind.parts(key)))
    return kind


def _is_whole(shape: type | tuple[type, ...]) -> bool:
    """Whether all keys of a shape fit if one does."""
    if isinstance(shape, tuple):
        return OWN_KEYS.issuperset(shape[1:])
    return shape in OWN_KEYS or issubclass(shape, Variant)


def _holds_another(items: list[Value], kind: type) -> Raised:
    """The failure of what needs elements of one class, of an Any."""
    at, item = next((at, item) for at, item in enumerate(items) if type(item) is not kind)
    expected = "String" if kind is str else "Array<Any>"
    return failure(f"expected `{expected}`, found `{type_name(item)}` at `[{at}]`", "TypeError")


def _position(items: list[Value], wanted: Value) -> int:
    if type(wanted) is str:
        # Only strings equal strings, so that Python's own search is right here.
        return items.index(wanted) if wanted in items else -1
    if is_found_by_python(wanted):
        kind = type(wanted)
        if isinstance(wanted, (Struct, Variant)) and kind.field_names:
            parts = kind.parts(wanted)
            same = (
                place for place, item in enumerate(items) if type(item) is kind and kind.parts(item) == parts
            )
            position = next(same, -1)
            return position if position < 0 or equal(items[position], wanted) else _first_equal(items, wanted)
        # What Python takes for equal may still be another value: `true` beside 1.
        if wanted not in items:
            return -1
        position = items.index(wanted)
        if equal(items[position], wanted):
            return position
    return _first_equal(items, wanted)


def _first_equal(items: list[Value], wanted: Value) -> int:
    return next((place for place, item in enumerate(items) if equal(item, wanted)), -1)


# --- Order --------------------------------------------------------------------------------------


def _order_key(items: list[Value]) -> Callable[[Value], Any] | None:
    """What Python is to sort by; None where its own order is that of the language."""
    kinds = {*map(type, items)}
    if kinds in _ALIKE or _ordered_by_python(items):
        return None
    own = getattr(kinds.pop(), "own", None)
    if kinds or own is None or own.compare is None:
        return cmp_to_key(compare)
    return cmp_to_key(own.compare)


def _ordered_by_python(items: Iterable[Value]) -> bool:
    kinds = set(map(type, items))
    if kinds <= {int, float}:
        return float not in kinds or all(map(eq, items, items))
    if len(kinds) > 1:
        return False
    kind = kinds.pop()
    if kind is tuple:
        return len(set(map(len, items))) == 1 and all(map(_ordered_by_python, zip(*items, strict=True)))
    if kind is list:
        return _ordered_by_python([part for item in items for part in item])
    return kind in (str, bool)


_ORDERED: Final = frozenset({int, str, bool})
_ALIKE: Final = ({int}, {str})

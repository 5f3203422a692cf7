"""Iterators: elements that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from tests.oracle import values as v
from tests.oracle.library import arrays, strings
from tests.oracle.numbers import at_least


def through(value: v.Value) -> Iterable[v.Value] | None:
    """What `for` goes through; None if it is no such value."""
    if isinstance(value, Iterator):
        return value
    return v.items_of(value) if v.Own.method(value, "Iterator") is None else _own(value)


def _own(value: v.Value) -> Iterator[v.Value]:
    """What the method `next` of a struct gives, which changes it."""
    current = [value]
    while (following := v.Own.method(current.pop(), "Iterator")) is not None:
        found = following(changed=current.append)
        if found is v.NONE:
            return
        yield found.parts[0]


def _items(value: v.Value) -> Iterator[v.Value]:
    found = through(value)
    assert found is not None, "the checker lets nothing else through"
    return iter(found)


def _lazy(make: Callable[..., Iterable[v.Value]]) -> v.Function:
    return lambda items, *others: iter(make(_items(items), *others))


def _at_least(least: int, name: str, make: Callable[..., Iterable[v.Value]]) -> v.Function:
    message = f"`{name}` needs a number of at least {least}"
    return lambda items, number: iter(make(_items(items), at_least(least, number, message)))


def _of_array(name: str, made: Callable[[Iterator[v.Value]], v.Value]) -> v.Function:
    body = {**arrays.PURE, **strings.PURE}[f"Array::{name}"]
    return lambda items, *others: body(made(_items(items)), *others)


def _windows(items: Iterator[v.Value], length: int) -> Iterator[v.Value]:
    window = tuple(islice(items, length - 1))
    for item in items:
        window = (*window, item)
        yield window
        window = window[1:]


_ONE_BY_ONE = ("all", "any", "count", "find", "first", "fold", "partition", "position", "reduce", "try_map")
_ALL = ("group_by", "join", "last", "max", "max_by_key", "min", "min_by_key", "sum", "to_set")

PURE: v.Functions = {
    "Iterator::iter": _lazy(lambda items: items),
    **{f"Iterator::{name}": _lazy(make) for name, make in arrays.STEPS.items()},
    "Iterator::zip": _lazy(lambda items, others: arrays.STEPS["zip"](items, _items(others))),
    "Iterator::chain": _lazy(lambda items, others: chain(items, _items(others))),
    "Iterator::take": _at_least(0, "take", islice),
    "Iterator::skip": _at_least(0, "skip", lambda items, number: islice(items, number, None)),
    "Iterator::step_by": _at_least(1, "step_by", lambda items, step: islice(items, 0, None, step)),
    "Iterator::chunks": _at_least(1, "chunks", lambda items, n: iter(lambda: tuple(islice(items, n)), ())),
    "Iterator::windows": _at_least(1, "windows", _windows),
    "Iterator::to_array": lambda items: tuple(_items(items)),
    "Iterator::collect": lambda items, *types: (
        arrays.PURE["Array::collect"](tuple(_items(items)), *types) if types else tuple(_items(items))
    ),
    **{f"Iterator::{name}": _of_array(name, iter) for name in _ONE_BY_ONE},
    **{f"Iterator::{name}": _of_array(name, tuple) for name in _ALL},
}
CHANGING: v.Functions = {"Iterator::next": lambda items: (v.first(_items(items)), items)}

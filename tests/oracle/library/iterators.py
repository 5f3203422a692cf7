"""Iterators: elements that are computed when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice

from tests.oracle import values as v
from tests.oracle.library import arrays, collections, strings

_ARRAYS = {**arrays.PURE, **collections.PURE, **strings.PURE}


def through(value: v.Value) -> Iterable[v.Value] | None:
    """What `for` goes through; None if it is no such value."""
    if isinstance(value, v.Iterator):
        return value.items
    if isinstance(value, v.Struct | v.Variant):
        return _own(value) if v.Own.method(value, "Iterator") is not None else None
    return None if isinstance(value, v.Tuple) else v.items_of(value)


def walked(value: v.Value) -> bool:
    """Whether it has the methods of iterators besides its own."""
    return not isinstance(value, str) and through(value) is not None


def _own(value: v.Value) -> Iterator[v.Value]:
    current = [value]
    while True:
        following = v.Own.method(current[0], "Iterator")
        assert following is not None
        found = following(changed=lambda changed: current.__setitem__(0, changed))
        if not isinstance(found, v.Some):
            return
        yield found.value


def _items(value: v.Value) -> Iterator[v.Value]:
    found = through(value)
    assert found is not None, "the checker lets nothing else through"
    return iter(found)


def _lazy(make: Callable[..., Iterable[v.Value]]) -> Callable[..., v.Value]:
    return lambda items, *others: v.Iterator(iter(make(_items(items), *others)))


def _at_least(least: int, name: str, make: Callable[..., Iterable[v.Value]]) -> Callable[..., v.Value]:
    def checked(items: v.Value, number: int) -> v.Value:
        if number < least:
            raise v.Failure(f"`{name}` needs a number of at least {least}, found {number}", "ValueError")
        return v.Iterator(iter(make(_items(items), number)))

    return checked


def _all_of(name: str) -> Callable[..., v.Value]:
    return lambda items, *others: _ARRAYS[f"Array::{name}"](tuple(_items(items)), *others)


def _one_by_one(name: str) -> Callable[..., v.Value]:
    """What may end before the last element."""
    return lambda items, *others: arrays.PURE[f"Array::{name}"](_items(items), *others)


def _next(items: v.Value) -> v.Value:
    return next((v.Some(item) for item in _items(items)), v.NONE)


def _chunks(items: Iterator[v.Value], length: int) -> Iterator[v.Value]:
    return iter(lambda: tuple(islice(items, length)), ())


def _windows(items: Iterator[v.Value], length: int) -> Iterator[v.Value]:
    window = tuple(islice(items, length - 1))
    for item in items:
        window = (*window, item)
        yield window
        window = window[1:]


PURE: dict[str, Callable[..., v.Value]] = {
    "Iterator::iter": _lazy(lambda items: items),
    **{f"Iterator::{name}": _lazy(make) for name, make in arrays.STEPS.items()},
    "Iterator::zip": _lazy(lambda items, others: arrays.STEPS["zip"](items, _items(others))),
    "Iterator::chain": _lazy(lambda items, others: chain(items, _items(others))),
    "Iterator::take": _at_least(0, "take", islice),
    "Iterator::skip": _at_least(0, "skip", lambda items, number: islice(items, number, None)),
    "Iterator::step_by": _at_least(1, "step_by", lambda items, step: islice(items, 0, None, step)),
    "Iterator::chunks": _at_least(1, "chunks", _chunks),
    "Iterator::windows": _at_least(1, "windows", _windows),
    "Iterator::to_array": lambda items: tuple(_items(items)),
    "Iterator::collect": lambda items, *types: (
        arrays.PURE["Array::collect"](tuple(_items(items)), *types) if types else tuple(_items(items))
    ),
    "Iterator::first": _next,
    **{
        f"Iterator::{name}": _one_by_one(name)
        for name in ("all", "any", "count", "find", "fold", "partition", "position", "reduce", "try_map")
    },
    **{
        f"Iterator::{name}": _all_of(name)
        for name in ("group_by", "join", "last", "max", "max_by_key", "min", "min_by_key", "sum", "to_set")
    },
}

CHANGING: dict[str, Callable[..., tuple[v.Value, v.Value]]] = {
    "Iterator::next": lambda items: (_next(items), items),
}

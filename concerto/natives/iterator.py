"""Iterators: the parts of an agent's answer while it arrives, and the lazy methods of all that `for` goes
through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, ClassVar

from concerto.natives import array_collecting
from concerto.natives.limits import MAX_ELEMENTS, size
from concerto.vm.copying import SHARED, copy_value
from concerto.vm.native import find_native, native
from concerto.vm.operations import iterate
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    Handle,
    Ok,
    OptionValue,
    Raised,
    Some,
    TypeValue,
    Value,
    failure,
)

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


class Stream(Handle):
    """Gives chunks to a `for` loop. `receive` waits for the next one, StopIteration at the end; `close` stops
    the work of a stream that nobody reads any more."""

    __slots__ = ("_close", "_receive")
    type_name: ClassVar[str] = "Iterator"

    def __init__(self, receive: Callable[[], Value], close: Callable[[], None]) -> None:
        self._receive = receive
        self._close = close

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Value:
        return self._receive()

    def __del__(self) -> None:
        self._close()


class Results(Handle):
    """A stream whose end by an AgentError is an Err, the last of what it gives."""

    __slots__ = ("_broken", "_stream")
    type_name: ClassVar[str] = "Iterator"

    def __init__(self, stream: Iterator[Value]) -> None:
        self._stream = stream
        self._broken = False

    def __iter__(self) -> Results:
        return self

    def __next__(self) -> Value:
        if self._broken:
            raise StopIteration
        try:
            return Ok(next(self._stream))
        except Raised as raised:
            error = raised.value
            if not isinstance(error, ErrorValue) or error.type_name != "AgentError":
                raise
            self._broken = True
            return Err(error)


class Lazy(Handle):
    """Values that are computed when they are asked for, each once."""

    __slots__ = ("_items",)
    type_name: ClassVar[str] = "Iterator"

    def __init__(self, items: Iterator[Value]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Value]:
        return self._items


@native("Iterator::results")
def results(stream: Iterator[Value]) -> Results:
    return Results(iter(stream))


@native("Iterator::next", opens="next(iter({first}), MISSING)", changes=True)
def following(items: Iterator[Value]) -> Value:
    for item in items:
        return Some(item)
    return NONE


# --- Lazy methods ---------------------------------------------------------------------------------


def _lazy(name: str) -> Callable[[Callable[..., Iterator[Value]]], None]:
    """Register a generator as a method. It runs when its first element is asked for, but what it goes through
    is taken before: a value is copied then."""

    def register(method: Callable[..., Iterator[Value]]) -> None:
        def begin(items: Value, *others: Value) -> Lazy:
            return Lazy(method(iter(iterate(items)), *others))

        begin.__annotations__ = getattr(method, "__annotations__", {})
        native(f"Iterator::{name}")(begin)

    return register


def _parts(name: str, least: int, method: Callable[[Iterator[Value], int], Iterator[Value]]) -> None:
    """Register what takes a number."""

    def begin(items: Value, number: int) -> Lazy:
        if number < least:
            raise failure(f"`{name}` needs a number of at least {least}, found {number}", "ValueError")
        return Lazy(_alone(method(iter(iterate(items)), number)))

    native(f"Iterator::{name}")(begin)


def _alone(items: Iterator[Value]) -> Iterator[Value]:
    """What refuses a second task while one waits in it: an `islice` or a `chain` would let go of what is
    running in it, a `zip` would pair what does not belong together."""
    yield from items


def _chunks(items: Iterator[Value], length: int) -> Iterator[Value]:
    while part := [*islice(items, length)]:
        yield part


def _windows(items: Iterator[Value], length: int) -> Iterator[Value]:
    window = [*islice(items, length - 1)]
    for item in items:
        window.append(item)
        yield window[:] if SHARED.issuperset(map(type, window)) else [*map(copy_value, window)]
        del window[0]


_parts("take", 0, islice)
_parts("skip", 0, lambda items, number: islice(items, number, None))
_parts("step_by", 1, lambda items, step: islice(items, 0, None, step))
_parts("chunks", 1, _chunks)
_parts("windows", 1, _windows)
_lazy("iter")(iter)
_lazy("enumerate")(enumerate)


@_lazy("zip")
def _in_pairs(items: Iterator[Value], others: Iterable[Value]) -> Iterator[tuple[Value, Value]]:
    return _alone(zip(items, others, strict=False))


@_lazy("chain")
def _one_after_another(items: Iterator[Value], others: Iterable[Value]) -> Iterator[Value]:
    return _alone(chain(items, others))


@_lazy("map")
def _changed(items: Iterator[Value], change: Callable[[Value], Value]) -> Iterator[Value]:
    for item in items:
        yield change(item)


@_lazy("filter")
def _accepted(items: Iterator[Value], accept: Callable[[Value], bool]) -> Iterator[Value]:
    for item in items:
        if accept(item):
            yield item


@_lazy("filter_map")
def _there(items: Iterator[Value], change: Callable[[Value], OptionValue]) -> Iterator[Value]:
    for item in items:
        made = change(item)
        if made is not NONE:
            yield made.value


@_lazy("flat_map")
def _inner(items: Iterator[Value], change: Callable[[Value], list[Value]]) -> Iterator[Value]:
    for item in items:
        yield from change(item)


@_lazy("scan")
def _so_far(
    items: Iterator[Value], start: Value, combine: Callable[[Value, Value], Value]
) -> Iterator[Value]:
    for item in items:
        start = combine(start, item)
        yield start


@_lazy("take_while")
def _first(items: Iterator[Value], accept: Callable[[Value], bool]) -> Iterator[Value]:
    for item in items:
        if not accept(item):
            return
        yield item


@_lazy("skip_while")
def _after(items: Iterator[Value], accept: Callable[[Value], bool]) -> Iterator[Value]:
    for item in items:
        if not accept(item):
            yield item
            yield from items


# --- Methods that go through all ------------------------------------------------------------------


def _whole(items: Value) -> list[Value]:
    whole = [*islice(iterate(items), MAX_ELEMENTS + 1)]
    size(len(whole))
    return whole


def _as_array(name: str, given: Callable[[Value], Value]) -> None:
    """Register what an array does with all its elements; the type of these may stand before them."""
    found = find_native(f"Array::{name}")
    assert found is not None
    method = found.body

    def body(first: Value, *others: Value) -> Value:
        if isinstance(first, TypeValue):
            return method(first, given(others[0]))
        return method(given(first), *others)

    body.__annotations__ = method.__annotations__
    native(f"Iterator::{name}")(body)


for _name in ("all", "any", "count", "find", "fold", "partition", "position", "reduce", "try_map"):
    _as_array(_name, iterate)
for _name in (
    "group_by", "join", "last", "max", "max_by_key", "max_float", "max_plain", "min", "min_by_key",
    "min_float", "min_plain", "sum", "to_set",
):  # fmt: skip
    _as_array(_name, _whole)
native("Iterator::to_array")(_whole)


@native("Iterator::first")
def first(items: Value) -> Value:
    return following(iter(iterate(items)))


@native("Iterator::collect_results")
def collect_results(of: TypeValue, items: Value) -> Value:
    return array_collecting.collect_results(of, _whole(items))


@native("Iterator::collect_options")
def collect_options(of: TypeValue, items: Value) -> Value:
    return array_collecting.collect_options(of, _whole(items))


@native("Iterator::collect", machine=True)
def collect(machine: Machine, *given: Value) -> Value:
    """With the type of the elements where they are Results, Options or pairs."""
    if len(given) == 1:
        return _whole(given[0])
    return array_collecting.collect(machine, given[0], _whole(given[1]))

"""How loops let the machine look after the run, at almost no cost.

`ticks` is one endless iterator for the whole run; every loop without an iterable draws from it. Each
thousand steps it asks the machine, which may raise Cancelled. `each` does the same for loops over a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any

from concerto.vm.access import iterate
from concerto.vm.values import Value

_STEPS = 1000


class _Alarm:
    """An iterator that gives nothing but polls. When polling raises, `chain` keeps it, so that the iterator
    around it stays alive for others."""

    def __init__(self, poll: Callable[[], None]) -> None:
        self._poll = poll

    def __iter__(self) -> _Alarm:
        return self

    def __next__(self) -> Any:
        self._poll()
        raise StopIteration


def endless_ticks(poll: Callable[[], None]) -> Iterator[None]:
    """An iterator that polls after every thousand steps."""
    return chain.from_iterable(_batches(_Alarm(poll)))


def _batches(alarm: _Alarm) -> Iterator[Iterable[Any]]:
    while True:
        yield repeat(None, _STEPS)
        yield alarm


def each_with(poll: Callable[[], None]) -> Callable[[Value], Iterable[Value]]:
    """The function `each`: what a `for` goes through, polling every thousand elements, short loops
    together."""
    steps = 0

    def each(value: Value) -> Iterable[Value]:
        nonlocal steps
        items = value if type(value) is list else iterate(value)
        try:
            count = len(items)  # type: ignore[arg-type]
        except TypeError:
            return _one_by_one(items, poll)
        except OverflowError:
            count = value.stop - value.start
        if count < _STEPS:
            steps += count + 1
            if steps >= _STEPS:
                steps = 0
                poll()
            return items
        return chain.from_iterable(_slices(iter(items), count, poll))

    return each


def _one_by_one(items: Iterable[Value], poll: Callable[[], None]) -> Iterator[Value]:
    for item in items:
        poll()
        yield item


def _slices(items: Iterator[Value], count: int, poll: Callable[[], None]) -> Iterator[Iterable[Value]]:
    for _ in range(0, count, _STEPS):
        poll()
        yield islice(items, _STEPS)
    # What was added meanwhile.
    yield items

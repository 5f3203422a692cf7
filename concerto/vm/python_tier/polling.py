"""Safepoints: how loops let the machine look after the run, at almost no cost.

`ticks` is one endless iterator for the whole run; every loop without an iterable, or with one whose length
nobody knows, draws from it. After a thousand steps at most, fewer where steps are slow, it asks the machine,
which may raise Cancelled. `each` does the same for loops over a value, and `searched` for those that may be
left early: there each step counts when it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, compress, islice, repeat
from time import perf_counter

from concerto.annotating import Any
from concerto.vm.operations import iterate
from concerto.vm.values import Value

_MOST_STEPS = 1000

_SLOW, _FAST = 0.02, 0.005
"""Seconds between two polls that make for fewer steps, or more."""


class _Pace:
    """How many steps come before the next poll, and the poll itself."""

    __slots__ = ("_last", "_poll", "steps")

    def __init__(self, poll: Callable[[], None]) -> None:
        self._poll = poll
        self._last = perf_counter()
        self.steps = _MOST_STEPS

    def poll(self) -> None:
        now = perf_counter()
        if now - self._last > _SLOW:
            self.steps = max(self.steps // 4, 1)
        elif now - self._last < _FAST:
            self.steps = min(self.steps * 2, _MOST_STEPS)
        self._last = now
        self._poll()


class _Alarm:
    """An iterator that gives nothing but polls. When polling raises, `chain` keeps it, so that the iterator
    around it stays alive for others."""

    __slots__ = ("_pace",)

    def __init__(self, pace: _Pace) -> None:
        self._pace = pace

    def __iter__(self) -> _Alarm:
        return self

    def __next__(self) -> Any:
        self._pace.poll()
        raise StopIteration


def endless_ticks(poll: Callable[[], None]) -> Iterator[bool]:
    """An iterator that polls every now and then."""
    pace = _Pace(poll)
    return chain.from_iterable(_batches(pace, _Alarm(pace)))


def _batches(pace: _Pace, alarm: _Alarm) -> Iterator[Iterable[Any]]:
    while True:
        yield repeat(True, pace.steps)
        yield alarm


def each_with(poll: Callable[[], None]) -> Callable[[Value], Iterable[Value]]:
    """The function `each`: what a `for` goes through, polling on the way, short loops together."""
    pace, ticks = _Pace(poll), endless_ticks(poll)
    steps = 0

    def each(value: Value) -> Iterable[Value]:
        nonlocal steps
        kind = type(value)
        items = value if kind is range or kind is list or kind is str else iterate(value)
        try:
            count = len(items)  # type: ignore[arg-type]
        except TypeError:
            return compress(items, ticks)
        except OverflowError:
            count = abs(value.stop - value.start)
        steps += count + 1
        if steps < pace.steps:
            return items
        steps = 0
        pace.poll()
        if count < pace.steps:
            return items
        return chain.from_iterable(_slices(iter(items), count, pace))

    return each


def searched_with(poll: Callable[[], None]) -> Callable[[Value], Iterable[Value]]:
    """The function `searched`: what a `for` that may end before its end goes through, polling on the way."""
    ticks = endless_ticks(poll)

    def searched(value: Value) -> Iterable[Value]:
        kind = type(value)
        return compress(value if kind is range or kind is list or kind is str else iterate(value), ticks)

    return searched


def _slices(items: Iterator[Value], count: int, pace: _Pace) -> Iterator[Iterable[Value]]:
    while count > 0:
        # Loops inside may change the pace meanwhile.
        steps = pace.steps
        yield islice(items, steps)
        count -= steps
        pace.poll()
    # What was added meanwhile.
    yield items

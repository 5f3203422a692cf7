"""Methods of Range."""

from __future__ import annotations

from collections.abc import Callable

from concerto.natives.limits import size
from concerto.vm.arithmetic import checked
from concerto.vm.native import native
from concerto.vm.values import Value, failure


@native("Range::len")
def length(numbers: range) -> int:
    """Counted by hand: Python's `len` refuses what does not fit into a machine word."""
    if numbers.start >= numbers.stop:
        return 0
    return checked((numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


@native("Range::is_empty", inline="(not {0})")
def is_empty(numbers: range) -> bool:
    return not numbers


@native("Range::contains", inline="{0}.__contains__({1})")
def contains(numbers: range, number: int) -> bool:
    return number in numbers


@native("Range::to_array")
def to_array(numbers: range) -> list[int]:
    size(length(numbers))
    return list(numbers)


@native("Range::map")
def mapped(numbers: range, change: Callable[[int], Value]) -> list[Value]:
    size(length(numbers))
    return [change(number) for number in numbers]


@native("Range::filter")
def filtered(numbers: range, accept: Callable[[int], bool]) -> list[int]:
    return [number for number in numbers if accept(number)]


@native("Range::step_by")
def step_by(numbers: range, step: int) -> range:
    if step < 1:
        raise failure(f"a step is at least 1, found {step}", "ValueError")
    return numbers[::step]

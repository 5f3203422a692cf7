"""Methods of Range."""

from __future__ import annotations

from collections.abc import Callable

from concerto.vm import arithmetic
from concerto.vm.arithmetic import checked
from concerto.vm.native import native
from concerto.vm.values import Range, Value, failure


@native("Range::len")
def length(between: Range) -> int:
    return arithmetic.count(between.numbers)


@native("Range::is_empty", inline="(not {0}.numbers)")
def is_empty(between: Range) -> bool:
    return not between.numbers


@native("Range::contains", inline="{0}.numbers.__contains__({1})")
def contains(between: Range, number: int) -> bool:
    return number in between.numbers


@native("Range::to_array")
def to_array(between: Range) -> list[int]:
    return list(arithmetic.sized(between.numbers))


@native("Range::map")
def mapped(between: Range, change: Callable[[int], Value]) -> list[Value]:
    return [change(number) for number in arithmetic.sized(between.numbers)]


@native("Range::filter")
def filtered(between: Range, accept: Callable[[int], bool]) -> list[int]:
    return [number for number in between.numbers if accept(number)]


@native("Range::step_by")
def step_by(between: Range, step: int) -> Range:
    if step < 1:
        raise failure(f"a step is at least 1, found {step}", "ValueError")
    numbers = between.numbers
    return Range(range(numbers.start, numbers.stop, checked(numbers.step * step)), between.inclusive)

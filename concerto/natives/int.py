"""Methods of Int."""

from __future__ import annotations

from concerto.vm.arithmetic import checked, power_int
from concerto.vm.native import native
from concerto.vm.values import failure


@native("Int::abs")
def absolute(number: int) -> int:
    return checked(abs(number))


@native("Int::min", inline="min({0}, {1})")
def smaller(number: int, other: int) -> int:
    return min(number, other)


@native("Int::max", inline="max({0}, {1})")
def larger(number: int, other: int) -> int:
    return max(number, other)


@native("Int::clamp")
def clamp(number: int, low: int, high: int) -> int:
    if low > high:
        raise failure(f"`clamp` needs low <= high, found {low} and {high}", "ValueError")
    return min(max(number, low), high)


@native("Int::pow")
def power(base: int, exponent: int) -> int:
    return power_int(base, exponent)


@native("Int::to_float", inline="float({0})")
def to_float(number: int) -> float:
    return float(number)


@native("Int::to_string", inline="str({0})")
def to_string(number: int) -> str:
    return str(number)

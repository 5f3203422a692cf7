"""Methods of Float. Arithmetic is IEEE 754; turning a Float into an Int fails where it does not fit."""

from __future__ import annotations

import math

from concerto.ieee import power_float
from concerto.vm.arithmetic import float_to_int
from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import failure


@native("Float::abs", inline="abs({0})")
def absolute(number: float) -> float:
    return abs(number)


@native("Float::min")
def smaller(number: float, other: float) -> float:
    """NaN counts as missing, as in Rust."""
    if number != number:
        return other
    return number if other != other else min(number, other)


@native("Float::max")
def larger(number: float, other: float) -> float:
    if number != number:
        return other
    return number if other != other else max(number, other)


@native("Float::clamp")
def clamp(number: float, low: float, high: float) -> float:
    if not low <= high:
        raise failure(f"`clamp` needs low <= high, found {to_text(low)} and {to_text(high)}", "ValueError")
    return number if number != number else min(max(number, low), high)


@native("Float::pow")
def power(base: float, exponent: float) -> float:
    return power_float(base, exponent)


@native("Float::to_string")
def to_string(number: float) -> str:
    return to_text(number)


@native("Float::round")
def rounded(number: float) -> int:
    return half_away(number) if -(2.0**52) < number < 2.0**52 else float_to_int(number)


def half_away(number: float) -> int:
    """The nearest integer, half away from zero, without the error that adding 0.5 makes."""
    whole = int(number)
    return whole if -0.5 < number - whole < 0.5 else whole + (1 if number > 0 else -1)


@native("Float::floor")
def floored(number: float) -> int:
    return math.floor(number) if -(2.0**63) <= number < 2.0**63 else float_to_int(number)


@native("Float::ceil")
def ceiled(number: float) -> int:
    return math.ceil(number) if -(2.0**63) <= number < 2.0**63 else float_to_int(number)


@native("Float::trunc")
@native("Float::to_int")
def truncated(number: float) -> int:
    return float_to_int(number)


@native("Float::sqrt")
def square_root(number: float) -> float:
    return math.nan if number < 0 else math.sqrt(number)


@native("Float::is_nan")
def is_nan(number: float) -> bool:
    return number != number


@native("Float::is_finite")
def is_finite(number: float) -> bool:
    return math.isfinite(number)

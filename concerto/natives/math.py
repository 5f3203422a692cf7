"""`std::math`: functions of numbers. Where there is no value (`ln(-1.0)`) a Float function gives NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from concerto.effects.kinds import Random
from concerto.ieee import power_float
from concerto.natives import float as floats
from concerto.natives import int as ints
from concerto.natives.calculator import evaluate
from concerto.natives.errors import make_error
from concerto.vm.arithmetic import power_int
from concerto.vm.native import native
from concerto.vm.values import Err, Ok, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

native("std::math::round")(floats.rounded)
native("std::math::floor")(floats.floored)
native("std::math::ceil")(floats.ceiled)
native("std::math::sqrt")(floats.square_root)


@native("std::math::abs")
def absolute(number: float) -> float:
    return ints.absolute(number) if type(number) is int else abs(number)


@native("std::math::min")
def smaller(number: float, other: float) -> float:
    return floats.smaller(number, other)


@native("std::math::max")
def larger(number: float, other: float) -> float:
    return floats.larger(number, other)


@native("std::math::clamp")
def clamp(number: float, low: float, high: float) -> float:
    return floats.clamp(number, low, high)


@native("std::math::pow")
def power(base: float, exponent: float) -> float:
    if type(base) is int and type(exponent) is int:
        return power_int(base, exponent)
    return power_float(base, exponent)


def _defined(function: Callable[[float], float], beyond: float) -> Callable[[float], float]:
    """The function with NaN where it is not defined and `beyond` where its value is too large."""

    def total(number: float) -> float:
        try:
            return function(number)
        except OverflowError:
            return beyond
        except ValueError:
            return math.nan

    return total


for _name, _function in (("exp", math.exp), ("sin", math.sin), ("cos", math.cos), ("tan", math.tan)):
    native(f"std::math::{_name}")(_defined(_function, math.inf))


@native("std::math::ln")
def natural_logarithm(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


@native("std::math::log10")
def decimal_logarithm(number: float) -> float:
    return math.log10(number) if number > 0 else -math.inf if number == 0 else math.nan


@native("std::math::random", machine=True)
def random(machine: Machine) -> float:
    """53 random bits, as many as a Float between 0 and 1 holds."""
    return (int.from_bytes(machine.host.perform(Random(7)), "big") >> 3) / (1 << 53)


@native("std::math::random_int", machine=True)
def random_int(machine: Machine, low: int, high: int) -> int:
    """Sixteen bytes for at most 64 bits: the bias is too small to be seen."""
    if low > high:
        raise failure(f"`random_int` needs low <= high, found {low} and {high}", "ValueError")
    return low + int.from_bytes(machine.host.perform(Random(16)), "big") % (high - low + 1)


@native("std::math::eval")
def eval_math(text: str) -> Value:
    try:
        return Ok(evaluate(text))
    except ValueError as error:
        return Err(make_error("ToolError", f"cannot evaluate the expression: {error}", "InvalidExpression"))

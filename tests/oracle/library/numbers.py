"""Int, Float and std::math."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.oracle.numbers import checked, fitting, float_power, power, rounded, to_int
from tests.oracle.text import text_of
from tests.oracle.values import Failure, Functions, Value


def _chosen(number: Value, other: Value, larger: bool) -> Value:
    """NaN counts as missing."""
    if number != number or other != other:
        return other if number != number else number
    return other if (other > number if larger else other < number) else number


def _clamp(number: Value, low: Value, high: Value) -> Value:
    if not low <= high:
        raise Failure(f"`clamp` needs low <= high, found {text_of(low)} and {text_of(high)}", "ValueError")
    return low if number < low else high if number > high else number


def _logarithm(of: Callable[[float], float]) -> Callable[[float], float]:
    return lambda number: -math.inf if number == 0 else math.nan if number < 0 else of(number)


def _periodic(of: Callable[[float], float]) -> Callable[[float], float]:
    return lambda angle: math.nan if math.isinf(angle) else of(angle)


def _exp(number: float) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


_BOTH: Functions = {
    "abs": lambda number: abs(number) if isinstance(number, float) else checked(abs(number)),
    "min": lambda number, other: _chosen(number, other, larger=False),
    "max": lambda number, other: _chosen(number, other, larger=True),
    "clamp": _clamp,
    "pow": lambda base, exponent: (float_power if isinstance(base, float) else power)(base, exponent),
}

_FLOAT: Functions = {
    "round": rounded,
    "floor": lambda number: fitting(math.floor, number),
    "ceil": lambda number: fitting(math.ceil, number),
    "sqrt": lambda number: math.nan if number < 0 else math.sqrt(number),
}

PURE: Functions = {
    **{f"{owner}::{n}": body for owner in ("Int", "Float", "std::math") for n, body in _BOTH.items()},
    **{f"{owner}::{n}": body for owner in ("Float", "std::math") for n, body in _FLOAT.items()},
    "Int::to_float": float,
    "Int::to_string": text_of,
    "Float::to_string": text_of,
    "Bool::to_string": text_of,
    "Float::trunc": to_int,
    "Float::to_int": to_int,
    "Float::is_nan": math.isnan,
    "Float::is_finite": math.isfinite,
    "std::math::exp": _exp,
    "std::math::ln": _logarithm(math.log),
    "std::math::log10": _logarithm(math.log10),
    "std::math::sin": _periodic(math.sin),
    "std::math::cos": _periodic(math.cos),
    "std::math::tan": _periodic(math.tan),
}

"""Arithmetic: Ints of 64 bits that never wrap, Floats as IEEE 754 says."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from tests.oracle.compare import is_number
from tests.oracle.values import Failure, Value, type_name

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_MOST = 2**28


def size(elements: int) -> int:
    """How many elements or characters a result may have."""
    if elements > _MOST:
        raise Failure(f"the result would have {elements} elements, more than {_MOST}", "ValueError")
    return elements


def checked(number: int) -> int:
    if _LOWEST <= number <= _HIGHEST:
        return number
    raise Failure("integer overflow", "Overflow")


def arithmetic(sign: str, left: Value, right: Value) -> Value:
    if left.__class__ is int and right.__class__ is int:
        return _ints(sign, left, right)
    if is_number(left) and is_number(right):
        return _FLOATS[sign](float(left), float(right))
    if sign == "+" and isinstance(left, str) and isinstance(right, str):
        size(len(left) + len(right))
        return left + right
    raise Failure(f"`{sign}` is not defined for {type_name(left)} and {type_name(right)}", "TypeError")


def negated(value: Value) -> Value:
    if value.__class__ is int:
        return checked(-value)
    if value.__class__ is float:
        return -value
    raise Failure(f"`-` is not defined for {type_name(value)}", "TypeError")


def to_int(number: float) -> int:
    """Cut off toward zero."""
    return fitting(math.trunc, number)


def rounded(number: float) -> int:
    """The nearest Int, a half away from zero."""
    return fitting(_rounded, number)


def fitting(whole: Callable[[float], int], number: float) -> int:
    """What `whole` makes of a Float, if that is an Int."""
    if not math.isfinite(number) or not _LOWEST <= whole(number) <= _HIGHEST:
        raise Failure(f"{number!r} does not fit in an Int", "Overflow")
    return whole(number)


def _rounded(number: float) -> int:
    whole = math.floor(abs(number))
    if abs(number) - whole >= 0.5:
        whole += 1
    return -whole if number < 0 else whole


_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul,
    "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip


def _ints(sign: str, left: int, right: int) -> int:
    if sign in _EXACT:
        return checked(_EXACT[sign](left, right))
    if sign == "**":
        return power(left, right)
    if sign in ("<<", ">>"):
        if right not in range(64):
            raise Failure(f"a shift is by 0 to 63 bits, found {right}", "Overflow")
        # What is shifted out on the left is lost, and the highest bit left is the sign.
        return left >> right if sign == ">>" else (left * 2**right - _LOWEST) % 2**64 + _LOWEST
    if right == 0:
        raise Failure("division by zero", "DivisionByZero")
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return checked(quotient) if sign == "/" else left - right * quotient


def power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise Failure("an Int cannot be raised to a negative power", "Overflow")
    if base in (0, 1, -1):
        return int(base ** (exponent if exponent < 2 else 2 + exponent % 2))
    result = 1
    for _ in range(exponent):
        result = checked(result * base)
    return result


_FLOATS: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "**": lambda a, b: float_power(a, b),
    "/": lambda a, b: _divided(a, b),
    "%": lambda a, b: math.nan if b == 0 or math.isinf(a) else math.fmod(a, b),
}  # fmt: skip


def _divided(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def float_power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = exponent == math.floor(exponent) and math.fmod(exponent, 2) != 0
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan
        odd = exponent == math.floor(exponent) and math.fmod(exponent, 2) != 0
        return math.copysign(math.inf, base) if odd else math.inf

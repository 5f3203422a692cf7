"""Arithmetic as the language defines it: 64-bit Ints that never wrap, truncating division, IEEE floats.

The `_int` and `_float` functions know their operands; `add subtract …` look at run-time types, for `Any`.
No function builds a number much larger than 64 bits on its way to an error.
"""

from __future__ import annotations

from collections.abc import Callable

from concerto.ieee import divide_float, power_float, remainder_float
from concerto.vm.operations import type_name
from concerto.vm.sizes import concat, size
from concerto.vm.values import Struct, Value, Variant, failure

INT_MIN = -(2**63)
INT_MAX = 2**63 - 1

DIGITS = {digit: int(digit, 36) for digit in "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"}
"""What a digit stands for in any base that it belongs to."""


def checked(number: int) -> int:
    """The number itself if it is an Int of the language."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise failure("integer overflow", "Overflow")


def divide_int(a: int, b: int) -> int:
    if b == 0:
        raise division_by_zero()
    return checked(a // b) if (a >= 0) == (b > 0) else -(-a // b)


def remainder_int(a: int, b: int) -> int:
    """Has the sign of the dividend."""
    if b == 0:
        raise division_by_zero()
    b = abs(b)
    return a % b if a >= 0 else -(-a % b)


def division_by_zero() -> Exception:
    return failure("division by zero", "DivisionByZero")


def power_int(a: int, b: int) -> int:
    if b < 0:
        raise failure("an Int cannot be raised to a negative power", "Overflow")
    if a in (0, 1, -1):
        return int(a**b) if b < 2 else int(a ** (2 + b % 2))
    if (abs(a).bit_length() - 1) * b > 64:
        raise failure("integer overflow", "Overflow")
    return checked(int(a**b))


def shift_left(a: int, bits: int) -> int:
    """What is shifted out of the 64 bits is lost."""
    kept = (a << _in_range(bits)) & (2**64 - 1)
    return kept if kept <= INT_MAX else kept - 2**64


def shift_right(a: int, bits: int) -> int:
    return a >> _in_range(bits)


def _in_range(bits: int) -> int:
    if 0 <= bits < 64:
        return bits
    raise failure(f"a shift is by 0 to 63 bits, found {bits}", "Overflow")


def float_to_int(a: float) -> int:
    if not -(2.0**63) <= a < 2.0**63:
        raise failure(f"{a!r} does not fit in an Int", "Overflow")
    return int(a)


def _dynamic(
    sign: str,
    on_ints: Callable[[int, int], int],
    on_floats: Callable[[float, float], float],
    on_strings: Callable[[str, str], str] | None = None,
) -> Callable[[Value, Value], Value]:
    """An operator that looks at the types of its operands."""

    def operate(a: Value, b: Value) -> Value:
        left, right = type(a), type(b)
        if left is int and right is int:
            return on_ints(a, b)
        if (left is float or left is int) and (right is float or right is int):
            return on_floats(float(a), float(b))
        if on_strings is not None and left is str and right is str:
            return on_strings(a, b)
        raise undefined(sign, a, b)

    return operate


add = _dynamic("+", lambda a, b: checked(a + b), lambda a, b: a + b, concat)
subtract = _dynamic("-", lambda a, b: checked(a - b), lambda a, b: a - b)
multiply = _dynamic("*", lambda a, b: checked(a * b), lambda a, b: a * b)
divide = _dynamic("/", divide_int, divide_float)
remainder = _dynamic("%", remainder_int, remainder_float)
power = _dynamic("**", power_int, power_float)


def negate(a: Value) -> Value:
    if type(a) is int:
        return checked(-a)
    if type(a) is float:
        return -a
    raise undefined("-", a)


def undefined(sign: str, *operands: Value) -> Exception:
    """An operator of what is no number, which may have one of its own: that is found by the type alone."""
    own = [type_name(each) for each in operands if isinstance(each, Struct | Variant)]
    if own:
        message = f"`{sign}` behind `Any` is that of numbers and texts, not of {own[0]}: say `x as {own[0]}`"
    else:
        message = f"`{sign}` is not defined for {' and '.join(map(type_name, operands))}"
    return failure(message, "TypeError")


def count(numbers: range) -> int:
    """How many numbers a range has, counted by hand: Python's `len` refuses what does not fit into a machine
    word."""
    if numbers.start >= numbers.stop:
        return 0
    return checked((numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


def sized(numbers: range) -> range:
    """The numbers of a range themselves if an array can hold them; else a failure."""
    size(count(numbers))
    return numbers

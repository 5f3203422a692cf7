"""Checks that bodies share: 64-bit Ints, indices, counts and sizes. Each gives its argument back or raises a failure."""

from __future__ import annotations

from concerto.vm.values import failure

MAX_ELEMENTS = 1 << 28
"""No single library call makes a string or array longer than this: a wrong number is an error, not a machine out of memory."""


def int64(value: int) -> int:
    if -0x8000_0000_0000_0000 <= value <= 0x7FFF_FFFF_FFFF_FFFF:
        return value
    raise failure("the result does not fit in an Int", "OverflowError")


def index(position: int, length: int) -> int:
    if 0 <= position < length:
        return position
    raise failure(f"index {position} is out of bounds for length {length}", "IndexError")


def part(low: int, high: int, length: int) -> slice:
    """The half-open part `low..high` of something of a length."""
    if 0 <= low <= high <= length:
        return slice(low, high)
    if 0 <= high < low:
        raise failure(f"the slice {low}..{high} ends before it starts", "IndexError")
    raise failure(f"the slice {low}..{high} is out of bounds for length {length}", "IndexError")


def count(number: int, what: str) -> int:
    if number >= 0:
        return number
    raise failure(f"{what} cannot be negative, found {number}", "ValueError")


def size(elements: int) -> int:
    if elements <= MAX_ELEMENTS:
        return elements
    raise failure(f"the result would have {elements} elements, more than {MAX_ELEMENTS}", "ValueError")

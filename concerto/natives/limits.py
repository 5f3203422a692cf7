"""Checks that bodies share: counts and sizes. Each gives its argument back or raises a failure."""

from __future__ import annotations

from concerto.vm.values import failure

MAX_ELEMENTS = 1 << 28
"""No library call makes a string or array longer than this: a wrong number is an error, not the end."""


def count(number: int, what: str) -> int:
    if number >= 0:
        return number
    raise failure(f"{what} cannot be negative, found {number}", "ValueError")


def size(elements: int) -> int:
    if elements <= MAX_ELEMENTS:
        return elements
    raise failure(f"the result would have {elements} elements, more than {MAX_ELEMENTS}", "ValueError")

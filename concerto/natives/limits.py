"""Checks that bodies share: counts and sizes. Each gives its argument back or raises a failure."""

from __future__ import annotations

from concerto.vm.sizes import MAX_ELEMENTS, size
from concerto.vm.values import failure

__all__ = ["MAX_ELEMENTS", "count", "size"]


def count(number: int, what: str) -> int:
    if number >= 0:
        return number
    raise failure(f"{what} cannot be negative, found {number}", "ValueError")

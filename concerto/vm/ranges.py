"""How many numbers a range has."""

from __future__ import annotations

from concerto.vm.arithmetic import checked
from concerto.vm.sizes import size


def length(numbers: range) -> int:
    """Counted by hand: Python's `len` refuses what does not fit into a machine word."""
    if numbers.start >= numbers.stop:
        return 0
    return checked((numbers.stop - numbers.start + numbers.step - 1) // numbers.step)


def sized(numbers: range) -> range:
    """The numbers themselves if an array can hold them; else a failure."""
    size(length(numbers))
    return numbers

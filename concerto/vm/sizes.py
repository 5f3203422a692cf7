"""How long a text or array may become in one step: a wrong number is an error, not the end."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.annotating import Final
from concerto.vm.values import failure

MAX_ELEMENTS: Final = 1 << 28

FEW_TEXTS: Final = 8
"""So many are joined before anybody looks at how long they are together."""


def size(elements: int) -> int:
    """The number itself; a failure if it is beyond the limit."""
    if elements <= MAX_ELEMENTS:
        return elements
    raise failure(f"the result would have {elements} elements, more than {MAX_ELEMENTS}", "ValueError")


def concat(left: str, right: str) -> str:
    """Two texts joined. Only the right one is looked at, so that adding a little to a long text stays cheap;
    nothing can double all the same."""
    return left + right if len(right) <= MAX_ELEMENTS else too_long(right)


def join(parts: Iterable[str], separator: str = "") -> str:
    parts = parts if type(parts) is list else list(parts)
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_ELEMENTS:
        size(sum(map(len, parts)) + len(separator) * (len(parts) - 1))
    return separator.join(parts)


def too_long(text: str) -> str:
    """A failure: a text, or a part of it, is beyond the limit."""
    size(len(text))
    raise AssertionError("unreachable")

"""Number literals."""

from __future__ import annotations

import re

from concerto.wording import shortened

# `-9223372036854775808` is written as a minus before one more than the highest Int.
LOWEST_INT_DIGITS = 2**63

_BASES = {"x": 16, "o": 8, "b": 2}
_DIGITS = {16: "0-9A-Fa-f", 10: "0-9", 8: "0-7", 2: "01"}
_MOST_DIGITS = 80  # more than any Int has in any base


def int_value(text: str) -> int:
    """The value of a literal that `int_mistake` has nothing against."""
    if text.isdecimal() and len(text) <= _MOST_DIGITS:
        return int(text)
    digits, base = _split(text)
    digits = digits.lstrip("0")
    return int(digits, base) if 0 < len(digits) <= _MOST_DIGITS else 0


def int_mistake(text: str) -> str | None:
    """What is wrong with an Int literal."""
    digits, base = _split(text)
    if not digits:
        return f"`{text}` has no digits"
    stray = re.search(f"[^{_DIGITS[base]}]", digits)
    if stray:
        return f"`{stray[0]}` is no digit of `{shortened(text, 38)}`"
    digits = digits.lstrip("0")
    if len(digits) > _MOST_DIGITS or int(digits or "0", base) > LOWEST_INT_DIGITS:
        return f"`{shortened(text, 38)}` does not fit into an Int"
    return None


def size_advice(text: str) -> str:
    """What to write for an Int literal that does not fit."""
    digits, base = _split(text)
    value = int(digits, base) if len(digits) <= _MOST_DIGITS else 0
    if base != 10 and LOWEST_INT_DIGITS <= value < 2 * LOWEST_INT_DIGITS:
        return f"an Int has a sign: these 64 bits are `{value - 2 * LOWEST_INT_DIGITS}`"
    return f"the largest is {LOWEST_INT_DIGITS - 1}; a Float is written with a point: `1.5e20`"


def float_value(text: str) -> float:
    return float(text.replace("_", ""))


def _split(text: str) -> tuple[str, int]:
    plain = text.replace("_", "")
    base = _BASES.get(plain[1:2].lower(), 10) if plain.startswith("0") else 10
    return (plain if base == 10 else plain[2:]), base

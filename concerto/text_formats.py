"""Formats in interpolations, `"${price:.2}"`: Python's format mini-language for Int, Float and String.

Two things differ from Python: a precision alone on a Float means decimals, and what a program cannot want
(locales, code points, widths of thousands) is left out.
"""

from __future__ import annotations

from functools import lru_cache

_FORMAT = (
    r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<alternate>\#)?(?P<zero>0)?(?P<width>[0-9]{1,4})?"
    r"(?P<group>[,_])?(?:\.(?P<precision>[0-9]{1,4}))?(?P<type>[A-Za-z%])?"
)
_FLOAT_TYPES = "eEfFgG%"
_INT_TYPES = "dboxX"

FITTING = {
    "Int": "an Int takes alignment and width as `>8` or `*^8`, `04`, `+`, `,`, the letters `b`, `o`, `x`, "
    "and what a Float takes with a letter, as `.2f`",
    "Float": "a Float takes alignment and width as `>8` or `*^8`, `+`, `,`, decimals as `.2`, "
    "and the letters `e`, `f`, `g`, `%`",
    "String": "a String takes alignment and width as `>8` or `*^8`, and as `.3` the most characters; "
    "a width that is computed is that of `pad_left` and `pad_right`",
}
"""What each type takes, for messages."""


@lru_cache(maxsize=1024)
def python_format(type_name: str, text: str) -> str | None:
    """What Python calls the format of a value of the type; None if it has no such format."""
    import re  # Most programs have no format.

    found = re.fullmatch(_FORMAT, text, re.DOTALL)
    if not text or found is None or type_name not in FITTING:
        return None
    letter = found["type"] or ""
    if type_name == "String":
        fits = letter in ("", "s") and not any(found.group("sign", "alternate", "zero", "group"))
        return text if fits and found["align"] != "=" else None
    if letter and letter in _FLOAT_TYPES:
        return text
    if type_name == "Float":
        return None if letter else text + ("f" if found["precision"] else "")
    if found["precision"] or letter not in _INT_TYPES or (found["group"] == "," and letter not in ("", "d")):
        return None
    return text

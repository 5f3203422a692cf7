"""Reading JSON as the language does: 64-bit Ints, no NaN, bounded depth. What comes from outside is read as
Python does, with the same bound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import accumulate
from json.scanner import make_scanner
from typing import Any, NoReturn

from concerto.vm.values import Value
from concerto.well_formed import well_formed

MAX_DEPTH = 1_000
"""Arrays and objects in one another: far above any real document, below what recursion in C bears."""

_TOO_DEEP = f"more than {MAX_DEPTH} arrays and objects inside one another"
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\0\0\2\2")
"""What takes an opening bracket to 0 and a closing one to 2: one less and one more than 1."""
_NO_BRACKETS = bytes(set(range(128)) - set(b"[]{}"))


def decode(text: str) -> Value:
    """The value of a JSON document; ValueError says what is wrong and where."""
    if _too_deep(text):
        raise ValueError(_TOO_DEEP)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = (error.msg[0].lower() + error.msg[1:]).removesuffix(" at")
        raise ValueError(f"{message} at line {error.lineno}, column {error.colno}") from None
    return _without_surrogates(value) if _may_hold_halves(text) else value


_PLAIN = json.JSONDecoder()
_scan = make_scanner(_PLAIN)  # type: ignore[arg-type]  # It takes a decoder.


def _read(text: str) -> Any:
    """As `json.loads`, which looks for blanks around a value before it looks for the value."""
    if text[:1] == "{":
        value, end = _PLAIN.raw_decode(text)
        if end == len(text):
            return value
    return _PLAIN.decode(text)


def loads(text: str | bytes, read: Callable[[str], Any] = _read) -> Any:
    """As `json.loads`, or `read`, but ValueError too for more than MAX_DEPTH arrays and objects in others: on
    a thread with a small stack Python's reader would end the process."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    if _too_deep(text):
        raise ValueError(_TOO_DEEP)
    try:
        value = read(well_formed(text))
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError:
        raise
    except ValueError:  # Python reads no integers of thousands of digits.
        raise ValueError("it has a number of too many digits") from None
    return _without_surrogates(value) if _may_hold_halves(text) else value


def quick_object(text: str, begin: int) -> Any:
    """The object that a line with nothing unusual ends with; None if `loads` has to look at it."""
    if (len(text) < MAX_DEPTH or not _too_deep(text)) and not _may_hold_halves(text):
        try:
            value, end = _scan(text, begin)
        except (StopIteration, ValueError, RecursionError):
            return None
        if end == len(text):
            return value
    return None


def _integer(digits: str) -> int | float:
    """Integers that no Int holds become Floats, as most other readers do it."""
    if len(digits) < 19:
        return int(digits)
    if len(digits) <= 20 and -0x8000_0000_0000_0000 <= (value := int(digits)) <= 0x7FFF_FFFF_FFFF_FFFF:
        return value
    return float(digits)


def _constant(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_constant)


def _too_deep(text: str) -> bool:
    """Whether more than MAX_DEPTH brackets are open at once."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    outside = _STRING.sub("", text) if "\\" in text else "".join(text.split('"')[::2])
    brackets = outside.encode("ascii", "ignore").translate(_STEPS, _NO_BRACKETS)
    return max(accumulate(map((1).__sub__, brackets)), default=0) > MAX_DEPTH


def _may_hold_halves(text: str) -> bool:
    """Whether escapes of a document may be halves of surrogate pairs."""
    return "\\u" in text and ("\\ud" in text or "\\uD" in text)


def _without_surrogates(value: Value) -> Value:
    """Half of a surrogate pair, which no text can hold, becomes the replacement character."""
    match value:
        case str():
            return well_formed(value)
        case list():
            return [_without_surrogates(item) for item in value]
        case dict():
            return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
        case _:
            return value

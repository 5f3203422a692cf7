"""Strings, which are sequences of code points, and std::fmt."""

from __future__ import annotations

import re
import string
from collections.abc import Callable

from tests.oracle.access import slice_of
from tests.oracle.numbers import at_least, size
from tests.oracle.text import text_of
from tests.oracle.values import NONE, Data, Functions, Value, demand, err, first, make_error, ok, some


def _lines(text: str) -> Value:
    found = text.replace("\r\n", "\n").split("\n")
    return tuple(found[:-1] if found[-1] == "" else found)


def _repeat(text: str, times: int) -> str:
    size(len(text) * at_least(0, times, "a number of repetitions cannot be negative"))
    return text * times


def _join(parts: tuple[str, ...], separator: str) -> str:
    size(sum(map(len, parts)) + len(separator) * (len(parts) - 1))
    return separator.join(parts)


def _to_digit(text: str, base: int) -> Data:
    demand(2 <= base <= 36, f"a base is from 2 to 36, found {base}")
    digits = (string.digits + string.ascii_lowercase)[:base]
    return first(at for at, digit in enumerate(digits) if digit == text.lower() and text.isascii())


def _one(text: str, what: str) -> str:
    demand(len(text) == 1, f"{what} one character, found `{_told(text)}`")
    return text


def _told(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _every(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: text != "" and all(map(holds, text))


def _padding(text: str, width: int, fill: str) -> str:
    return _one(fill, "a padding is") * max(0, size(width) - len(text))


def _parsed(text: str, form: str, name: str, read: Callable[[str], Data]) -> Data:
    if re.fullmatch(form, text, re.IGNORECASE):
        return read(text)
    return err(make_error("ParseError", f"`{_told(text)}` is not {name}", f"Invalid{name.split()[1]}"))


def _as_int(text: str) -> Data:
    # Longer numbers than Python reads are out of range in any case.
    number = int(text) if len(text.lstrip("+-0")) < 40 else 2**64
    if -(2**63) <= number < 2**63:
        return ok(number)
    return err(make_error("ParseError", f"`{_told(text)}` does not fit in an Int", "OutOfRange"))


_FLOAT = r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?|nan)"

_METHODS: Functions = {
    "len": len, "is_empty": lambda text: text == "", "chars": tuple, "lines": _lines, "to_string": str,
    "trim": str.strip, "trim_start": str.lstrip, "trim_end": str.rstrip,
    "to_upper": str.upper, "to_lower": str.lower, "reverse": lambda text: text[::-1],
    "contains": str.__contains__, "starts_with": str.startswith, "ends_with": str.endswith,
    "split": lambda text, separator: tuple(text.split(separator) if separator else text),
    "split_whitespace": lambda text: tuple(text.split()), "replace": str.replace, "repeat": _repeat,
    "index_of": lambda text, wanted: some(text.find(wanted)) if wanted in text else NONE, "slice": slice_of,
    "pad_left": lambda text, width, fill: _padding(text, width, fill) + text,
    "pad_right": lambda text, width, fill: text + _padding(text, width, fill),
    "is_alphabetic": _every(str.isalpha), "is_alphanumeric": _every(str.isalnum),
    "is_uppercase": _every(str.isupper), "is_lowercase": _every(str.islower),
    "is_whitespace": _every(str.isspace), "is_digit": _every(string.digits.__contains__),
    "to_digit": _to_digit, "code_point": lambda text: ord(_one(text, "`code_point` is of")),
    "from_code_point": lambda n: some(chr(n)) if 0 <= n < 0xD800 or 0xE000 <= n < 0x110000 else NONE,
    "parse_int": lambda text: _parsed(text, "[+-]?[0-9]+", "an Int", _as_int),
    "parse_float": lambda text: _parsed(text, _FLOAT, "a Float", lambda text: ok(float(text))),
}  # fmt: skip


def _format(template: str, values: tuple[Value, ...]) -> str:
    pieces = re.split(r"(\{\{|\}\}|\{\}|[{}])", template)
    demand(not {"{", "}"}.intersection(pieces), "a brace in `format` is written `{{` or `}}`")
    places = pieces.count("{}")
    counted = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in ((places, "place"), (len(values), "value"))]
    demand(places == len(values), f"`format` has {' for '.join(counted)}")
    texts = map(text_of, values)
    return "".join(
        next(texts) if piece == "{}" else piece[:1] if piece in ("{{", "}}") else piece for piece in pieces
    )


def _truncate(text: str, length: int, ending: str) -> str:
    if len(text) <= at_least(0, length, "a length cannot be negative"):
        return text
    return text[: length - len(ending)] + ending if len(ending) <= length else ending[:length]


def _indent(text: str, spaces: int) -> str:
    space = " " * at_least(0, spaces, "a number of spaces cannot be negative")
    return "\n".join(space + line if line.strip() else line for line in text.split("\n"))


PURE: Functions = {
    **{f"{owner}::{name}": body for owner in ("String", "std::string") for name, body in _METHODS.items()},
    "std::string::join": _join, "Array::join": _join,
    "std::fmt::pad_left": _METHODS["pad_left"], "std::fmt::pad_right": _METHODS["pad_right"],
    "std::fmt::format": _format, "std::prelude::format": _format,
    "std::fmt::truncate": _truncate, "std::fmt::indent": _indent,
}  # fmt: skip

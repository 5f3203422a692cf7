"""Strings, which are sequences of code points, and std::fmt."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.oracle.access import slice_of
from tests.oracle.errors import make_error
from tests.oracle.numbers import size
from tests.oracle.text import text_of
from tests.oracle.values import NONE, Err, Failure, Functions, Ok, Some, Value


def not_negative(number: int, what: str) -> int:
    if number < 0:
        raise Failure(f"{what} cannot be negative, found {number}", "ValueError")
    return number


def _lines(text: str) -> Value:
    found = text.replace("\r\n", "\n").split("\n")
    return tuple(found[:-1] if found[-1] == "" else found)


def _repeat(text: str, times: int) -> str:
    size(len(text) * not_negative(times, "a number of repetitions"))
    return text * times


def _join(parts: tuple[str, ...], separator: str) -> str:
    size(sum(map(len, parts)) + len(separator) * (len(parts) - 1))
    return separator.join(parts)


def _index_of(text: str, wanted: str) -> Value:
    found = text.find(wanted)
    return NONE if found < 0 else Some(found)


def _to_digit(text: str, base: int) -> Value:
    if not 2 <= base <= 36:
        raise Failure(f"a base is from 2 to 36, found {base}", "ValueError")
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"[:base]
    found = digits.find(text.lower()) if len(text) == 1 and text.isascii() else -1
    return NONE if found < 0 else Some(found)


def _code_point(text: str) -> int:
    if len(text) != 1:
        raise Failure(f"`code_point` is of one character, found `{_told(text)}`", "ValueError")
    return ord(text)


def _from_code_point(number: int) -> Value:
    return Some(chr(number)) if number in range(0xD800) or number in range(0xE000, 0x110000) else NONE


def _every(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: text != "" and all(holds(character) for character in text)


def _padding(text: str, width: int, fill: str) -> str:
    if len(fill) != 1:
        raise Failure(f"a padding is one character, found `{_told(fill)}`", "ValueError")
    return fill * max(0, size(width) - len(text))


def _told(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _parse_int(text: str) -> Value:
    if not re.fullmatch("[+-]?[0-9]+", text):
        return Err(make_error("ParseError", f"`{_told(text)}` is not an Int", "InvalidInt"))
    # Longer numbers than Python reads are out of range in any case.
    number = int(text) if len(text.lstrip("+-0")) < 40 else 2**64
    if not -(2**63) <= number < 2**63:
        return Err(make_error("ParseError", f"`{_told(text)}` does not fit in an Int", "OutOfRange"))
    return Ok(number)


def _parse_float(text: str) -> Value:
    if not re.fullmatch(
        r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf(inity)?|nan)", text, re.IGNORECASE
    ):
        return Err(make_error("ParseError", f"`{_told(text)}` is not a Float", "InvalidFloat"))
    return Ok(float(text))


_METHODS: Functions = {
    "len": len,
    "is_empty": lambda text: text == "",
    "chars": tuple,
    "lines": _lines,
    "split": lambda text, separator: tuple(text.split(separator) if separator else text),
    "split_whitespace": lambda text: tuple(text.split()),
    "trim": lambda text: text.strip(),
    "trim_start": lambda text: text.lstrip(),
    "trim_end": lambda text: text.rstrip(),
    "to_upper": lambda text: text.upper(),
    "to_lower": lambda text: text.lower(),
    "contains": lambda text, wanted: wanted in text,
    "starts_with": lambda text, prefix: text[: len(prefix)] == prefix,
    "ends_with": lambda text, suffix: text.endswith(suffix),
    "replace": lambda text, old, new: text.replace(old, new),
    "repeat": _repeat,
    "reverse": lambda text: text[::-1],
    "index_of": _index_of,
    "slice": slice_of,
    "pad_left": lambda text, width, fill: _padding(text, width, fill) + text,
    "pad_right": lambda text, width, fill: text + _padding(text, width, fill),
    "is_alphabetic": _every(lambda character: character.isalpha()),
    "is_digit": _every(lambda character: character in "0123456789"),
    "is_alphanumeric": _every(lambda character: character.isalnum()),
    "is_whitespace": _every(lambda character: character.isspace()),
    "is_uppercase": _every(lambda character: character.isupper()),
    "is_lowercase": _every(lambda character: character.islower()),
    "to_digit": _to_digit,
    "code_point": _code_point,
    "from_code_point": _from_code_point,
    "parse_int": _parse_int,
    "parse_float": _parse_float,
    "to_string": lambda text: text,
}


def _format(template: str, values: tuple[Value, ...]) -> str:
    pieces = re.split(r"(\{\{|\}\}|\{\}|[{}])", template)
    if "{" in pieces or "}" in pieces:
        raise Failure("a brace in `format` is written `{{` or `}}`", "ValueError")
    places = pieces.count("{}")
    if places != len(values):
        counted = f"{_counted(places, 'place')} for {_counted(len(values), 'value')}"
        raise Failure(f"`format` has {counted}", "ValueError")
    texts = iter(values)
    return "".join(text_of(next(texts)) if p == "{}" else p[0] if p in ("{{", "}}") else p for p in pieces)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _truncate(text: str, length: int, ending: str) -> str:
    not_negative(length, "a length")
    if len(text) <= length:
        return text
    return text[: length - len(ending)] + ending if len(ending) <= length else ending[:length]


def _indent(text: str, spaces: int) -> str:
    not_negative(spaces, "a number of spaces")
    return "\n".join(" " * spaces + line if line.strip() else line for line in text.split("\n"))


PURE: Functions = {
    **{f"String::{name}": body for name, body in _METHODS.items()},
    **{f"std::string::{name}": body for name, body in _METHODS.items()},
    "std::string::join": _join,
    "Array::join": _join,
    "std::fmt::pad_left": _METHODS["pad_left"],
    "std::fmt::pad_right": _METHODS["pad_right"],
    "std::fmt::format": _format,
    "std::prelude::format": _format,
    "std::fmt::truncate": _truncate,
    "std::fmt::indent": _indent,
}

"""Reading JSON as the language does: 64-bit Ints, no NaN, bounded depth; leniently where a model wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

from concerto.vm.values import Value

MAX_DEPTH = 1_000
"""Arrays and objects in one another: far above any real document, below what recursion in C bears."""

_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_BRACKETS = re.compile(_STRING + r"|[\[{]|[\]}]", re.DOTALL)
_TRAILING_COMMA = re.compile(_STRING + r"|,(?=\s*[\]}])", re.DOTALL)
_FENCE = re.compile(r"```[A-Za-z]*\n(.*?)```", re.DOTALL)
_MOST_READINGS = 50
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def decode(text: str) -> Value:
    """The value of a JSON document; ValueError says what is wrong and where."""
    if _depth_of(text) > MAX_DEPTH:
        raise ValueError(f"more than {MAX_DEPTH} arrays and objects inside one another")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = error.msg[0].lower() + error.msg[1:]
        raise ValueError(f"{message} at line {error.lineno}, column {error.colno}") from None
    return _mended(value) if "\\u" in text else value


def readings(text: str) -> Iterator[Value]:
    """What a text that should be JSON may mean, the likeliest first: the whole of it, a code fence in it, and
    each outermost object or array among other words; commas before a closing bracket are forgiven."""
    for number, part in enumerate(_parts(text)):
        if number == _MOST_READINGS:
            return
        for candidate in (part, _TRAILING_COMMA.sub(_without_comma, part)):
            try:
                yield decode(candidate)
                break
            except ValueError:
                continue


def _parts(text: str) -> Iterator[str]:
    yield text
    for fence in _FENCE.finditer(text):
        yield fence.group(1)
    start = depth = 0
    # A quotation mark among words is no string: those before the first bracket are left out.
    position = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    for token in _BRACKETS.finditer(text, position):
        mark = token.group()
        if mark in "[{":
            start = token.start() if depth == 0 else start
            depth += 1
        elif mark in "]}" and depth > 0:
            depth -= 1
            if depth == 0:
                yield text[start : token.end()]


def _without_comma(token: re.Match[str]) -> str:
    return "" if token.group() == "," else token.group()


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


def _depth_of(text: str) -> int:
    """How many brackets are open at once; what would be too few to matter is not looked at."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return 0
    depth = deepest = 0
    for token in _BRACKETS.finditer(text):
        mark = token.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _mended(value: Value) -> Value:
    """Half of a surrogate pair, which no text can hold, becomes the replacement character."""
    match value:
        case str():
            return _LONE_SURROGATE.sub("\ufffd", value)
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {_mended(key): _mended(item) for key, item in value.items()}
        case _:
            return value

"""JSON repair: reading the JSON that a model meant, where it wrote almost JSON; every repair is named.

Understood are code fences and words around the value, comments, single quotes, names without quotes, commas
before a closing bracket, the words of Python, and closing brackets missing at the end. Two different values
in one text are no guess but an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from concerto.json_data import Json
from concerto.natives.json_text import decode

CLOSED = "missing closing bracket added"
"""The repair of a text that ends too early."""
_DEEPEST = 200
_MOST_STARTS = 100
"""Brackets from which a value is tried: the time must not grow with the square of a text full of them."""
_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Unreadable(Exception):
    """A text that holds no JSON value, or more than one; the text is for the model."""


@dataclass(frozen=True)
class Reading:
    """A value and what had to be repaired to read it; nothing if the text was JSON."""

    value: Json
    repairs: tuple[str, ...] = ()


def read_leniently(text: str) -> Reading:
    """The one value in a text; raises Unreadable."""
    try:
        return Reading(decode(text))
    except ValueError as error:
        complaint = str(error)
    found: list[Reading] = []
    for part, repair in _parts(text):
        reading = _read_part(part, repair)
        if reading is not None and all(reading.value != other.value for other in found):
            found.append(reading)
    if not found:
        raise Unreadable(f"the reply is not JSON: {complaint}")
    if len(found) > 1:
        raise Unreadable(f"the reply holds {len(found)} different JSON values; give exactly one")
    return found[0]


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Where the value may stand: in code fences; if there are none, from each outermost bracket on."""
    fences = [fence.group(1) for fence in _FENCE.finditer(text)]
    if fences:
        yield from ((fence, "code fence removed") for fence in fences)
        return
    at = 0
    for _ in range(_MOST_STARTS):
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        if start < 0:
            return
        reader = _Reader(text, start)
        try:
            reader.value(0)
        except Unreadable:
            at = start + 1
            continue
        surrounded = bool((text[:start] + text[reader.at :]).strip())
        yield text[start : reader.at], "text around the value removed" if surrounded else ""
        at = reader.at


def _read_part(text: str, repair: str) -> Reading | None:
    first = (repair,) if repair else ()
    try:
        return Reading(decode(text), first)
    except ValueError:
        pass
    reader = _Reader(text, 0)
    try:
        value = reader.value(0)
    except Unreadable:
        return None
    return Reading(value, (*first, *reader.repairs))


@dataclass
class _Reader:
    """Reads one value from `at` on and notes every repair once."""

    text: str
    at: int
    repairs: dict[str, None] = field(default_factory=dict)

    def value(self, depth: int) -> Json:
        if depth > _DEEPEST:
            raise Unreadable("the value is nested too deeply")
        self._blank()
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'":
                return self._string()
            case _:
                return self._plain()

    def _object(self, depth: int) -> dict[str, Json]:
        result: dict[str, Json] = {}
        self.at += 1
        while not self._closed("}"):
            key = self._key()
            self._blank()
            if self._next() != ":":
                raise Unreadable("a key has no value")
            self.at += 1
            result[key] = self.value(depth + 1)
            self._comma("}")
        return result

    def _array(self, depth: int) -> list[Json]:
        result: list[Json] = []
        self.at += 1
        while not self._closed("]"):
            result.append(self.value(depth + 1))
            self._comma("]")
        return result

    def _closed(self, bracket: str) -> bool:
        self._blank()
        if self.at >= len(self.text):
            self._note(CLOSED)
            return True
        if self._next() == bracket:
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> None:
        self._blank()
        if self._next() == ",":
            self.at += 1
            self._blank()
            if self._next() == bracket:
                self._note("trailing comma removed")
        elif self._next() not in (bracket, ""):
            raise Unreadable("a comma is missing")

    def _key(self) -> str:
        if self._next() in ('"', "'"):
            return self._string()
        name = _NAME.match(self.text, self.at)
        if name is None:
            raise Unreadable("a key is missing")
        self.at = name.end()
        self._note("key without quotes accepted")
        return name.group()

    def _string(self) -> str:
        quote = self._next()
        if quote == "'":
            self._note("single quotes accepted")
        self.at += 1
        pieces: list[str] = []
        while True:
            character = self._next()
            self.at += 1
            if character == quote:
                return "".join(pieces)
            if character == "":
                raise Unreadable("a string is not closed")
            pieces.append(self._escape() if character == "\\" else character)

    def _escape(self) -> str:
        character = self._next()
        self.at += 1
        if character != "u":
            return _ESCAPES.get(character, character)
        digits = self.text[self.at : self.at + 4]
        self.at += 4
        try:
            return chr(int(digits, 16))
        except ValueError:
            raise Unreadable("an escape is broken") from None

    def _plain(self) -> Json:
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return (
                decode(number.group().lstrip("0") or "0")
                if number.group().isdigit()
                else decode(number.group())
            )
        word = _NAME.match(self.text, self.at)
        if word is None or word.group() not in _WORDS:
            raise Unreadable("a value is missing")
        self.at = word.end()
        if word.group()[0].isupper():
            self._note("Python's word accepted")
        return _WORDS[word.group()]

    def _blank(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        assert blank is not None
        if blank.group().strip():
            self._note("comment removed")
        self.at = blank.end()

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _note(self, repair: str) -> None:
        self.repairs[repair] = None

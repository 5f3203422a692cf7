"""JSON repair: reading the JSON that a model meant, where it wrote almost JSON; every repair is named.

Understood are code fences and words around the value, comments, single, triple and back quotes, quotes inside
of texts, keys and values without quotes, commas too many or too few, the words of Python, and what is missing
at the end. What a type says of all this is in `natives.directed`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from concerto.json_data import Json
from concerto.natives.json_text import decode

CLOSED = "missing closing bracket added"
"""The repair of a text that ends too early."""
_DEEPEST = 200
_MOST_STARTS = 100
"""Brackets from which a value is tried: the time must not grow with the square of a text full of them."""
_MOST_TO_THE_END = 8
_FENCE = re.compile(r"```[A-Za-z0-9]*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(
    r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?(?=\s*(?:[,}\]\n]|//|/\*|#|\Z))", re.ASCII
)
_GROUPS = re.compile(r"\d{1,3}(?:,\d{3})*,0\d\d(?!\d)", re.ASCII)
"""In an array: one number or some."""
_WORD = re.compile(r"[A-Za-z]+(?=\s*(?:[,}\]\n]|//|/\*|#|\Z))")
_KEY = re.compile(r"[\w$](?:[\w$. -]*[\w$])?(?=\s*:)")
_ANOTHER_KEY = re.compile(
    r"(?:\s|//[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*(?:[}\n]"
    r"|(?:\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[\w$][\w$. -]*)\s*:(?!//)"
    r"|(?:[\"'`][^\"'`\n]*|[A-Za-z_$][\w$. -]*)?\Z)",
    re.DOTALL,
)
"""What follows a comma that ends a value of an object."""
_KEY_BEGUN = re.compile(r"[\w$. -]*\Z")
_MAY_GO_ON = re.compile(r"\s*(?:,\s*)?\Z")
"""What follows a plain value that may have more digits, words, or groups of digits."""
_CUT_ESCAPE = re.compile(
    r"(?<!\\)(?:\\\\)*(\\(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u[0-9a-fA-F]{0,3})?)?))?)\Z"
)
"""An escape that the end of the text cuts off."""
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]\n]|//|/\*|#|\Z)")
_PLAIN = {quote: re.compile(rf"[^{quote}\\]+") for quote in "\"'`”"}
"""What of a text stands for itself."""
_UNICODE = re.compile(r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4}")
"""An escape after its `u`; halves of a pair stand side by side."""
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"} | {each: each for each in "\"'`\\/\n"}


class Bare(str):
    """A text that stood without quotes: what it is, its type says."""

    __slots__ = ()


class Unfinished(str):
    """A text that goes on in what has not arrived yet."""

    __slots__ = ()


class Unreadable(Exception):
    """A text that holds no JSON value, or more than one; the text is for the model."""


class _NotArrived(Exception):
    """Nobody knows yet what the end of the text begins."""


@dataclass(frozen=True)
class Reading:
    """A value, what had to be repaired to read it, and where in the text it stands."""

    value: Json
    repairs: tuple[str, ...] = ()
    start: int = 0
    end: int = 0


def unmarked(data: Json) -> Json:
    """Data in which texts are texts, whether they stood in quotes or not."""
    match data:
        case Bare():
            return str(data)
        case list():
            return [unmarked(item) for item in data]
        case dict():
            return {key: unmarked(item) for key, item in data.items()}
        case _:
            return data


def read_leniently(text: str) -> Reading:
    """The one value in a text that nobody knows the type of; raises Unreadable."""
    try:
        return Reading(decode(text))
    except ValueError as error:
        complaint = str(error)
    found = distinct_readings(text, lambda reading: replace(reading, value=unmarked(reading.value)))
    if len(found) == 1:
        return found[0]
    raise several(len(found)) if found else Unreadable(f"the reply is not JSON: {complaint}")


def several(count: int) -> Unreadable:
    """What is said of several values where one is wanted."""
    return Unreadable(f"the reply holds {count} different JSON values; give exactly one")


def distinct_readings(text: str, fit: Callable[[Reading], Reading | None]) -> list[Reading]:
    """The different values of a text that `fit` takes, none of them inside of another: those in its code
    fences, or else those from its brackets on."""
    for readings in (fenced_readings(text), bracketed_readings(text)):
        found: list[Reading] = []
        for reading in readings:
            if any(each.start <= reading.start and reading.end <= each.end for each in found):
                continue
            fitting = fit(reading)
            if fitting is not None and all(fitting.value != each.value for each in found):
                found.append(fitting)
        if found:
            return found
    return []


def fenced_readings(text: str) -> Iterator[Reading]:
    """The values of a text's code fences."""
    at, tried = 0, 0
    while (fence := _FENCE.search(text, at)) is not None:
        at = fence.end()
        reading = _read_whole(fence.group(1))
        cut = reading is not None and CLOSED in reading.repairs and at < len(text)
        if cut and tried < _MOST_TO_THE_END:
            tried += 1  # Its end may be that of a fence inside of a text.
            beyond = _read_at(text, fence.start(1))
            if beyond is not None and CLOSED not in beyond.repairs:
                reading, at = Reading(beyond.result, tuple(beyond.repairs)), beyond.at
        if reading is not None:
            yield Reading(reading.value, ("code fence removed", *reading.repairs), fence.start(), at)


def bracketed_readings(text: str) -> Iterator[Reading]:
    """The values from each outermost bracket on. Where one reaches the end because nothing closes it, those
    from the brackets inside of it follow."""
    at, to_the_end = 0, 0
    for _ in range(_MOST_STARTS):
        start = min((place for place in (text.find("{", at), text.find("[", at)) if place >= 0), default=-1)
        if start < 0:
            return
        reader = _read_at(text, start)
        if reader is None:
            at = start + 1
            continue
        at = reader.at
        if CLOSED in reader.repairs:
            at, to_the_end = start + 1, to_the_end + 1
        surrounded = bool((text[:start] + text[reader.at :]).strip())
        first = ("text around the value removed",) if surrounded else ()
        yield Reading(reader.result, (*first, *reader.repairs), start, reader.at)
        if to_the_end == _MOST_TO_THE_END:
            return


@dataclass(frozen=True)
class Beginning:
    """What there is of a value whose text has not wholly arrived."""

    value: Json
    end: int
    unfinished: Mapping[int, dict[Any, Any]]
    """Arrays and objects that may grow, by identity; each with room for what is made of its parts. All parts
    but the last stay as they are."""


def read_beginning(text: str, start: int) -> Beginning | None:
    """The value that begins at `start`, as far as it is known for good; None if it cannot be read (yet)."""
    reader = _read_at(text[: cut_escape(text, start)], start, arriving=True)
    if reader is None:
        return None
    return Beginning(reader.result, reader.at, {each: {} for each in reader.unfinished})


def cut_escape(text: str, start: int) -> int:
    """Where a text ends without an escape that has not wholly arrived."""
    cut = _CUT_ESCAPE.search(text, max(start, len(text) - 100))
    return len(text) if cut is None else cut.start(1)


def _read_whole(text: str) -> Reading | None:
    """The value that a text begins with."""
    try:
        return Reading(decode(text))
    except ValueError:
        reader = _read_at(text, 0)
        return None if reader is None else Reading(reader.result, tuple(reader.repairs))


def _read_at(text: str, start: int, *, arriving: bool = False) -> _Reader | None:
    """A reader that has read a value; one that takes quotes for parts of texts, if no other way is left."""
    for quotes_inside in (False, True):
        reader = _Reader(text, start, quotes_inside, arriving)
        try:
            reader.result = reader.value(0)
        except (Unreadable, _NotArrived):
            continue
        return reader
    return None


@dataclass
class _Reader:
    """Reads one value from `at` on and notes every repair once."""

    text: str
    at: int
    quotes_inside: bool
    """A quote ends a text only where something else can begin."""
    arriving: bool = False
    """More will be at the end: what may yet become another value is left out."""
    unfinished: dict[int, Json] = field(default_factory=dict)
    """Arrays and objects that the end of the text leaves open, by identity."""
    result: Json = None
    repairs: dict[str, None] = field(default_factory=dict)
    _in_object: bool = False
    _open: list[str] = field(default_factory=list)
    """The brackets that will close what is being read, from the outside in."""

    def value(self, depth: int) -> Json:
        if depth > _DEEPEST:
            raise Unreadable("the value is nested too deeply")
        self._blank()
        match self.text[self.at : self.at + 1]:
            case "{":
                return self._object(depth)
            case "[":
                return self._array(depth)
            case '"' | "'" | "`" | "“":
                return self._string()
            case _:
                return self._plain()

    def _object(self, depth: int) -> dict[str, Json]:
        result: dict[str, Json] = {}
        self.at += 1
        self._open.append("}")
        try:
            while not self._closed("}"):
                key = self._key()
                self._blank()
                if self._ended():
                    break
                if self._next() != ":":
                    raise Unreadable("a key has no value")
                self.at += 1
                self._blank()
                if self._ended():
                    break
                self._in_object = True
                result[key] = self.value(depth + 1)
                self._comma("}")
        except _NotArrived:
            self._note(CLOSED)
        self._open.pop()
        if self.arriving and CLOSED in self.repairs:
            self.unfinished[id(result)] = result
        return result

    def _array(self, depth: int) -> list[Json]:
        result: list[Json] = []
        self.at += 1
        self._open.append("]")
        try:
            while not self._closed("]"):
                self._in_object = False
                result.append(self.value(depth + 1))
                self._comma("]")
        except _NotArrived:
            self._note(CLOSED)
        self._open.pop()
        if self.arriving and CLOSED in self.repairs:
            self.unfinished[id(result)] = result
        return result

    def _ended(self) -> bool:
        """Whether the text ends here, too early."""
        if self.at < len(self.text):
            return False
        self._note(CLOSED)
        return True

    def _closed(self, bracket: str) -> bool:
        self._blank()
        if self._ended():
            return True
        if self._next() == bracket:
            self.at += 1
            return True
        if self._next() not in ("}", "]"):
            return False
        self._note("wrong closing bracket mended")
        if self._next() not in self._open[:-1]:
            self.at += 1
        return True

    def _comma(self, bracket: str) -> None:
        before = self.at
        self._blank()
        if self._next() == ",":
            self.at += 1
            self._blank()
            while self._next() == ",":
                self.at += 1
                self._blank()
                self._note("superfluous comma removed")
            if self._next() == bracket:
                self._note("trailing comma removed")
        elif self._next() not in ("}", "]", ""):
            apart = self.at > before or self.text[before - 1] in "}]"
            if not apart or self._next() == ":":
                raise Unreadable("a comma is missing")
            self._note("missing comma added")

    def _key(self) -> str:
        if self._next() in ('"', "'", "`", "“"):
            return self._string()
        name = _KEY.match(self.text, self.at)
        if name is None:
            if self.arriving and _KEY_BEGUN.match(self.text, self.at):
                self.at = len(self.text)
                raise _NotArrived
            raise Unreadable("a key is missing")
        self.at = name.end()
        self._note("key without quotes accepted")
        return name.group()

    def _string(self) -> str:
        quote = self._next()
        if self.text.startswith(quote * 3, self.at):
            quote *= 3
        if quote != '"':
            self._note("single quotes accepted" if quote == "'" else "other quotes accepted")
        quote = "”" if quote == "“" else quote
        self.at += len(quote)
        plain = _PLAIN[quote[0]]
        pieces: list[str] = []
        while not self._ended():
            found = plain.match(self.text, self.at)
            if found is not None:
                self.at = found.end()
                pieces.append(found.group())
            elif self.text.startswith(quote, self.at):
                self.at += len(quote)
                if not self.quotes_inside or self._text_ended():
                    break
                self._note("quotes inside of a text accepted")
                pieces.append(quote)
            else:
                self.at += 1
                literal = self.text[self.at - 1] != "\\" or len(quote) == 3
                pieces.append(self.text[self.at - 1] if literal else self._escape())
        found_text = "".join(pieces)
        return Unfinished(found_text) if self.arriving and CLOSED in self.repairs else found_text

    def _text_ended(self) -> bool:
        """Whether what follows a quote can follow a text: behind a comma in an object that is a key."""
        after = _AFTER_STRING.match(self.text, self.at)
        if after is None or not self._in_object or after.group()[-1:] != ",":
            return after is not None
        return _ANOTHER_KEY.match(self.text, after.end()) is not None

    def _escape(self) -> str:
        character = self._next()
        self.at += 1
        if character != "u":
            return _ESCAPES.get(character, "\\" + character)
        escape = _UNICODE.match(self.text, self.at)
        if escape is None:
            if _CUT_ESCAPE.search(self.text, self.at - 2) is None:
                return "\\u"
            self.at = len(self.text)
            return ""
        self.at = escape.end()
        return str(decode(f'"\\u{escape.group()}"'))

    def _plain(self) -> Json:
        value = self._plain_value()
        if self.arriving and _MAY_GO_ON.match(self.text, self.at):
            self.at = len(self.text)
            raise _NotArrived
        return value

    def _plain_value(self) -> Json:
        if not self._in_object and _GROUPS.match(self.text, self.at):
            raise Unreadable("a comma parts digits of a number, or numbers")
        number = _NUMBER.match(self.text, self.at)
        if number is not None and not self._goes_on(number.end()):
            self.at = number.end()
            return _number(number.group())
        word = _WORD.match(self.text, self.at)
        if word is not None and word.group().lower() in _WORDS:
            self.at = word.end()
            if word.group()[0].isupper():
                self._note("Python's word accepted")
            return _WORDS[word.group().lower()]
        return self._bare()

    def _goes_on(self, end: int) -> bool:
        """Whether a comma behind a plain value of an object is a part of it: `12,111`."""
        comma = self._in_object and self.text[end : end + 1] == ","
        return comma and _ANOTHER_KEY.match(self.text, end + 1) is None

    def _bare(self) -> Bare:
        end = self.at
        while end < len(self.text) and self.text[end] not in "}]\n":
            if self.text[end] == "," and not self._goes_on(end):
                break
            end += 1
        found = self.text[self.at : end].strip()
        if not found or found[0] in ":,":
            raise Unreadable("a value is missing")
        self.at = end
        self._note("value without quotes accepted")
        return Bare(found)

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


def _number(text: str) -> Json:
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text.removeprefix("+"))
    if digits.startswith("."):
        digits = "0" + digits
    return decode(sign + (re.sub(r"^0+(?=\d)", "", digits)))

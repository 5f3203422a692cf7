"""JSON that arrives: the value of a document's beginning, as far as it is known for good.

What is JSON is followed token by token, closed where it ends, and read by Python's own reader; what is only
almost JSON, or has a key twice, is read by `natives.lenient`, from its begin each time.
"""

from __future__ import annotations

import re
from typing import Any

from concerto.natives.json_text import decode
from concerto.natives.lenient import Beginning, Unfinished, cut_escape, read_beginning

_TOKEN = re.compile(r'\s+|"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


class ArrivingJson:
    """A value that begins at `start` of a text that grows."""

    def __init__(self, start: int) -> None:
        self._start = self._at = self._known = start
        self._closing: list[str] = []
        """What is missing at the end, the last first."""
        self._keys: list[set[str]] = []
        self._kept: list[dict[Any, Any]] = []
        """Of each open array or object, from the outside in: its keys, and what is made of its parts."""
        self._key = '""'
        self._at_key = self._ended = self.is_almost = False

    def read(self, text: str) -> Beginning | None:
        """The value; None if there is none to be read (yet)."""
        if not self.is_almost:
            try:
                self._follow(text)
                return self._closed(text)
            except ValueError:
                self.is_almost = True
        return read_beginning(text, self._start)

    def _follow(self, text: str) -> None:
        """Go on to the last token that has wholly arrived. Raises ValueError for a key that was there."""
        while not self._ended and (token := _TOKEN.match(text, self._at)) is not None:
            sign = text[self._at]
            if sign not in '{}[],:"' and token.end() == len(text):
                return  # A number may have more digits.
            self._at = token.end()
            match sign:
                case "{" | "[":
                    self._closing.append(_CLOSING[sign])
                    self._keys.append(set())
                    self._kept.append({})
                    self._at_key = sign == "{"
                    self._known = self._at
                case "}" | "]":
                    self._ended = not self._closing or self._closing.pop() != sign or not self._closing
                    del self._keys[len(self._closing) :], self._kept[len(self._closing) :]
                    self._at_key = False
                    self._known = self._at
                case ",":
                    self._at_key = self._closing[-1:] == ["}"]
                case ":":
                    if self._at_key:
                        self._note_key()
                    self._at_key = False
                case _ if not self._at_key and not sign.isspace():
                    self._known = self._at
                case '"':
                    self._key = token.group()
                case _:
                    pass

    def _note_key(self) -> None:
        key = decode(self._key) if "\\" in self._key else self._key[1:-1]
        keys = self._keys[-1]
        if key in keys:
            raise ValueError("it has a key twice")
        keys.add(key)

    def _closed(self, text: str) -> Beginning:
        in_text = not self._ended and not self._at_key and text.startswith('"', self._at)
        end = cut_escape(text, self._at + 1) if in_text else self._known
        closing = '"' * in_text + "".join(reversed(self._closing))
        data = decode(text[self._start : end] + closing)
        unfinished: dict[int, dict[Any, Any]] = {}
        place = data
        for depth, kept in zip(range(len(self._closing), 0, -1), self._kept, strict=True):
            unfinished[id(place)] = kept
            last = len(place) - 1 if isinstance(place, list) else next(reversed(place), None)
            if depth > 1:
                place = place[last]
            elif in_text:
                place[last] = Unfinished(place[last])
        return Beginning(data, self._known, unfinished)

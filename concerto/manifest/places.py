"""Finds where in a TOML text each key and value stands, which `tomllib` does not tell.

The text has been accepted by `tomllib`; nothing is validated again.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass

KeyPath = tuple[str, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}' + r"|'''.*?'{3,5}" + r'|"(?:\\.|[^"\\])*"' + r"|'[^']*'", re.DOTALL
)
_PLAIN_VALUE = re.compile(r"[^,\]}\r\n#]*")


@dataclass(frozen=True)
class TomlPlace:
    """Offsets of a key (its last part) and of its value; of a table, both are its name."""

    key: tuple[int, int]
    value: tuple[int, int]


def key_places(text: str) -> dict[KeyPath, TomlPlace]:
    """The place of every key by its full path; elements of arrays have their array's place."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.places


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places: dict[KeyPath, TomlPlace] = {}

    def document(self) -> None:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                double = self.text.startswith("[[", self.at)
                self.at += 2 if double else 1
                table, _ = self._dotted_key(())
                self.at += 2 if double else 1
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _pair(self, table: KeyPath) -> None:
        path, key = self._dotted_key(table)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        start = self.at
        self._value(path)
        self.places[path] = TomlPlace(key, (start, self.at))

    def _dotted_key(self, prefix: KeyPath) -> tuple[KeyPath, tuple[int, int]]:
        """The path and the place of its last part; the tables on the way get the place of their name."""
        path = prefix
        while True:
            self._skip(_SPACE)
            start = self.at
            path = (*path, self._key_part())
            key = (start, self.at)
            self.places.setdefault(path, TomlPlace(key, key))
            self._skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return path, key
            self.at += 1

    def _key_part(self) -> str:
        bare = _BARE_KEY.match(self.text, self.at)
        if bare:
            self.at = bare.end()
            return bare[0]
        start = self.at
        self._skip(_STRING)
        written = self.text[start : self.at]
        return str(tomllib.loads(f"key = {written}")["key"])

    def _value(self, path: KeyPath) -> None:
        opener = self.text[self.at]
        if opener in "\"'":
            self._skip(_STRING)
        elif opener == "[":
            self._sequence("]", path, self._value)
        elif opener == "{":
            self._sequence("}", path, self._pair)
        else:
            plain = _PLAIN_VALUE.match(self.text, self.at)
            assert plain
            self.at += len(plain[0].rstrip())

    def _sequence(self, closer: str, path: KeyPath, item: Callable[[KeyPath], None]) -> None:
        self.at += 1
        self._skip(_BLANK)
        while self.text[self.at] != closer:
            item(path)
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
                self._skip(_BLANK)
        self.at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()

"""What stands between quotes: escapes, and the indentation of `\"\"\"` strings."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
_SIMPLE = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t", "0": "\0", "$": "$"}


def unescape(raw: str) -> str:
    """The value of a piece of string; an escape that does not exist stands for itself."""
    return _ESCAPE.sub(_value, raw) if "\\" in raw else raw


def bad_escapes(raw: str) -> Iterator[tuple[int, int]]:
    """Where in `raw` escapes stand that mean nothing."""
    for match in _ESCAPE.finditer(raw):
        code, simple = match.groups()
        if (code is not None and not _is_character(code)) or (simple is not None and simple not in _SIMPLE):
            yield match.span()


def cut_indentation(pieces: list[str]) -> list[str]:
    """The pieces of a `\"\"\"` string, between which interpolations stand, without the line break
    after the opening quotes, the last one, and the indentation of the closing line."""
    first, *others = pieces
    head, line_break, rest = first.partition("\n")
    opened = bool(line_break) and not head.strip()
    pieces = [rest if opened else first, *others]
    body, line_break, indentation = pieces[-1].rpartition("\n")
    if indentation.strip() or not (line_break or (opened and len(pieces) == 1)):
        return pieces
    pieces[-1] = body
    cut = [_outdent(piece, indentation) for piece in pieces]
    if opened:
        cut[0] = _without_prefix(cut[0], indentation)
    return cut


def _outdent(piece: str, indentation: str) -> str:
    first, *lines = piece.split("\n")
    return "\n".join([first, *(_without_prefix(line, indentation) for line in lines)])


def _without_prefix(line: str, indentation: str) -> str:
    shared = 0
    while shared < min(len(line), len(indentation)) and line[shared] == indentation[shared]:
        shared += 1
    return line[shared:]


def _value(match: re.Match[str]) -> str:
    code, simple = match.groups()
    if code is None:
        return _SIMPLE.get(simple, match[0])
    return chr(int(code, 16)) if _is_character(code) else match[0]


def _is_character(code: str) -> bool:
    point = int(code, 16)
    return point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF

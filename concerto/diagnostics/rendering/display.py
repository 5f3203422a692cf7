"""How text from a program looks on a terminal: tabs widened, wide characters counted as two columns,
control characters made visible, so that a file cannot move the cursor or hide what it says."""

from __future__ import annotations

import unicodedata

_TAB = 4


def displayed(text: str) -> str:
    """`text` as it may be printed: without tabs, control characters, text direction marks and surrogates."""
    if text.isascii() and text.isprintable():
        return text
    out: list[str] = []
    column = 0
    for char in text:
        shown = " " * (_TAB - column % _TAB) if char == "\t" else _visible(char)
        out.append(shown)
        column += sum(map(_width, shown))
    return "".join(out)


def width(text: str) -> int:
    """Columns that `displayed` text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _visible(char: str) -> str:
    if ord(char) < 32:
        return chr(0x2400 + ord(char))
    if char == "\u200d" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return char
    return "\ufffd"


def _width(char: str) -> int:
    if char == "\u200d" or unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1

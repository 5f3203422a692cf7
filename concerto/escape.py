"""Terminal escaping: text that others wrote, for a terminal; nothing in it moves the cursor, changes colours,
or turns the direction of what stands around it."""

from __future__ import annotations

_KEPT = "\n\t"
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_TABLE = {code: f"\\u{{{code:x}}}" for code in (*_CONTROLS, *_DIRECTIONS) if chr(code) not in _KEPT}


def visible_line(text: str) -> str:
    """As `visible`, in one line: what others wrote cannot look like a line of ours."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def visible(text: str) -> str:
    """The text with control characters written as the escapes of the language; line breaks and tabs stay."""
    return text if text.isprintable() else text.translate(_TABLE)

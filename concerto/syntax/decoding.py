"""Bytes of a file to source text."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import Problems, UnknownCharacter
from concerto.source import Source, Span

NOT_UTF8: Final = "this is not UTF-8 text"
"""What is said of a file's bytes; the characters in their place are not spoken of again."""

_BOM = "\ufeff"


def decode(data: bytes, path: str, problems: Problems) -> Source:
    """The text of a file: UTF-8 without its byte order mark, line ends as `\\n`. Bytes that are no
    UTF-8 are reported and become U+FFFD."""
    text = data.decode("utf-8", errors="replace")
    broken = "\ufffd" in text and not _is_utf8(data)
    text = text.removeprefix(_BOM).replace("\r\n", "\n")
    source = Source(path, text)
    if broken:
        start = _first_broken(data)
        problems.add(
            UnknownCharacter(
                Span(source, start, start + 1),
                NOT_UTF8,
                help="save the file with the encoding UTF-8",
            )
        )
    return source


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _first_broken(data: bytes) -> int:
    """The offset, in the decoded text, of the first byte that is no UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        return len(before.removeprefix(_BOM).replace("\r\n", "\n"))
    raise AssertionError("all bytes are UTF-8")

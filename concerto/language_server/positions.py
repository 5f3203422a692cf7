"""Places in the protocol: lines from 0, and columns in UTF-16 units."""

from __future__ import annotations

from lsprotocol.types import Position, Range, TextDocumentContentChangeEvent, TextDocumentContentChangePartial

from concerto.source import Source, Span


def position_at(source: Source, offset: int) -> Position:
    line, column = source.line_column(min(max(offset, 0), len(source.text)))
    start = source.line_starts[line - 1]
    return Position(line - 1, _units(source.text[start : start + column - 1]))


def offset_at(source: Source, position: Position) -> int:
    """The offset of a position; the end of its line, or of the text, if there is no such column or line."""
    if position.line >= len(source.line_starts):
        return len(source.text)
    start = source.line_starts[position.line]
    text = source.line_text(position.line + 1)
    if text.isascii():
        return start + min(position.character, len(text))
    units = 0
    for column, character in enumerate(text):
        if units >= position.character:
            return start + column
        units += 2 if ord(character) > 0xFFFF else 1
    return start + len(text)


def apply_change(text: str, change: TextDocumentContentChangeEvent) -> str:
    """A text after an edit of it."""
    if not isinstance(change, TextDocumentContentChangePartial):
        return change.text
    source = Source("", text)
    start, end = (offset_at(source, place) for place in (change.range.start, change.range.end))
    return f"{text[:start]}{change.text}{text[end:]}"


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, which for editors are line feeds only, unlike for `splitlines`."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + [last] * bool(last)


def range_of(source: Source, start: int, end: int) -> Range:
    return Range(position_at(source, start), position_at(source, end))


def range_of_span(span: Span) -> Range:
    return range_of(span.source, span.start, span.end)


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2

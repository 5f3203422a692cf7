"""The formatter's changes, line by line: of a whole document, or those in a part of it."""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol.types import Position, Range, TextEdit

from concerto.diagnostics import Problems
from concerto.language_server.positions import lines_of
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse


def format_edits(source: Source, part: Range | None = None) -> list[TextEdit]:
    """None for a text with a syntax error."""
    problems = Problems()
    tree = parse(source, problems)
    if problems.errors:
        return []
    before = lines_of(source.text)
    after = lines_of(format_module(tree))
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    edits = []
    for kind, start, end, first, last in changes:
        outside = part is not None and (end <= part.start.line or start > part.end.line)
        if kind != "equal" and not outside:
            edits.append(TextEdit(_lines(source, before, start, end), "".join(after[first:last])))
    return edits


def _lines(source: Source, lines: list[str], start: int, end: int) -> Range:
    """From the beginning of a line to that of another, or to the end of a text."""
    if end == len(lines) and lines and not lines[-1].endswith("\n"):
        units = len(lines[-1].encode("utf-16-le", "surrogatepass")) // 2
        return Range(Position(start, 0), Position(end - 1, units))
    return Range(Position(start, 0), Position(end, 0))

"""Lays problems out for people, as in section 16 of the reference:

    error[E0402]: tool method `Search::find` has no `@describe`
      ┌─ src/main.conc:7:12
    7 │     pub fn find(self, query: String) -> String {
      │            ^^^^ a model cannot choose a method it knows nothing about
      = help: add @describe("what it does") above it

The result is lines of styled pieces, so that colour is a matter of printing alone. The source lines get their
styles from a `Highlighter`, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from concerto.diagnostics.problem import Problem
from concerto.diagnostics.rendering.display import displayed, width
from concerto.source import Source, Span

Piece = tuple[str, str]
"""A style (`error`, `warning`, `strong`, `gutter`, `related`, empty, or a highlighter's own) and a text."""
Line = list[Piece]
Highlighter = Callable[[Source, int], Line]
"""Cuts a line of a source into pieces, which make up the line."""

# A line longer than this is shown only around the place that matters.
_LONGEST_LINE = 140
_CONTEXT = 50


@dataclass(frozen=True)
class _Mark:
    """An underlined place: `style` is that of the problem or `related`, `sign` is `^` or `-`."""

    span: Span
    label: str
    style: str
    sign: str


@dataclass(frozen=True)
class _LineMark:
    """The part of a mark on one line, in code points of that line."""

    line: int
    start: int
    end: int
    label: str
    style: str
    sign: str


def uncolored(source: Source, number: int) -> Line:
    return [("", source.line_text(number))]


def lay_out(problems: Iterable[Problem], highlight: Highlighter = uncolored) -> list[Line]:
    """All lines of all problems, with an empty line after each problem."""
    lines: list[Line] = []
    for problem in problems:
        lines += _problem(problem, highlight)
        lines.append([])
    return lines


def plain(lines: Iterable[Line]) -> str:
    return "".join("".join(text for _, text in line) + "\n" for line in lines)


def _problem(problem: Problem, highlight: Highlighter) -> list[Line]:
    marks = [_Mark(problem.span, problem.label, problem.severity, "^")]
    marks += [_Mark(span, label, "related", "-") for span, label in problem.related]
    files: dict[Source, list[_LineMark]] = {}
    for mark in marks:
        files.setdefault(mark.span.source, []).extend(_line_marks(mark))
    margin = max(len(str(part.line)) for parts in files.values() for part in parts)

    head = f"{problem.severity}[{problem.code}]"
    lines: list[Line] = [[(problem.severity, head), ("strong", f": {_one_line(problem.message)}")]]
    for source, parts in files.items():
        lines += _file(source, parts, margin, highlight)
    for note in problem.notes:
        lines += _remark("note", note, margin)
    if problem.help:
        lines += _remark("help", problem.help, margin)
    return lines


def _line_marks(mark: _Mark) -> list[_LineMark]:
    """One part for a place within a line; the first and the last line of a longer one."""
    source = mark.span.source
    first, column = source.line_column(mark.span.start)
    last, end_column = source.line_column(max(mark.span.end, mark.span.start))
    if last > first and end_column == 1:
        last -= 1
        end_column = len(source.line_text(last)) + 1
    if first == last:
        return [_LineMark(first, column - 1, end_column - 1, mark.label, mark.style, mark.sign)]
    text = source.line_text(last)
    indent = min(len(text) - len(text.lstrip()), end_column - 1)
    return [
        _LineMark(first, column - 1, len(source.line_text(first)), "", mark.style, mark.sign),
        _LineMark(last, indent, end_column - 1, mark.label, mark.style, mark.sign),
    ]


def _file(source: Source, parts: list[_LineMark], margin: int, highlight: Highlighter) -> list[Line]:
    pad = " " * margin
    place = displayed(source.path)
    if not source.text:
        return [[("gutter", f"{pad} ┌─ "), ("", place)]]
    place += f":{parts[0].line}:{parts[0].start + 1}"
    lines: list[Line] = [[("gutter", f"{pad} ┌─ "), ("", place)]]
    by_line: dict[int, list[_LineMark]] = {}
    for part in sorted(parts, key=lambda part: (part.line, part.start)):
        by_line.setdefault(part.line, []).append(part)
    previous = None
    for number, marked in by_line.items():
        if previous is not None and number > previous + 1:
            lines.append([("gutter", f"{pad} ·")])
        lines += _source_line(highlight(source, number), number, marked, margin)
        previous = number
    return lines


def _source_line(pieces: Line, number: int, parts: list[_LineMark], margin: int) -> list[Line]:
    text = "".join(piece for _, piece in pieces)
    low, high = _window(text, parts)
    before, after = ("…" if low else ""), ("…" if high < len(text) else "")
    shown = _shown_pieces(pieces, text.rstrip(), low, high)
    code: Line = [("", f" {before}"), *shown, ("", after)] if before or shown else []
    lines: list[Line] = [[("gutter", f"{number:>{margin}} │"), *code]]
    for part in parts:
        start = min(max(part.start, low), high)
        end = min(max(part.end, start), high)
        offset = width(before + displayed(text[low:start]))
        length = max(1, width(before + displayed(text[low:end])) - offset)
        under = part.sign * length + (f" {_one_line(part.label)}" if part.label else "")
        lines.append([("gutter", f"{' ' * margin} │"), ("", " " * (offset + 1)), (part.style, under)])
    return lines


def _shown_pieces(pieces: Line, text: str, low: int, high: int) -> Line:
    """The pieces of `text` from `low` to `high` as they are displayed."""
    shown: Line = []
    start = column = 0
    for style, piece in pieces:
        start += len(piece)
        # What a tab takes depends on all that stands before it.
        before = displayed(text[low : min(start, high)])
        if len(before) > column:
            shown.append((style, before[column:]))
            column = len(before)
    return shown


def _window(text: str, parts: list[_LineMark]) -> tuple[int, int]:
    """The range of a line that is shown: all of it, or what surrounds the first mark."""
    if len(text) <= _LONGEST_LINE:
        return 0, len(text)
    low = max(0, parts[0].start - _CONTEXT)
    return low, min(len(text), low + _LONGEST_LINE)


def _remark(kind: str, text: str, margin: int) -> list[Line]:
    first, *rest = text.split("\n")
    pad = " " * margin
    lines: list[Line] = [[("gutter", f"{pad} = "), ("strong", f"{kind}: "), ("", displayed(first))]]
    indent = " " * (margin + len(f" = {kind}: "))
    return lines + [[("", indent + displayed(line))] for line in rest]


def _one_line(text: str) -> str:
    return displayed(text.replace("\n", " "))

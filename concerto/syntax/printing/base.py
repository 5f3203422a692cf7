"""What all parts of the printer share: the driver, the source's hints, lists with their comments."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, TypeVar

from concerto.records import field, record
from concerto.syntax import ast
from concerto.syntax.layout import (
    BLANK,
    COMMA_IF_BROKEN,
    HARD,
    LINE,
    SOFT,
    Behind,
    Doc,
    concat,
    group,
    indent,
    is_hard,
)
from concerto.syntax.printing.comments import Comments, Remark

# Yields the printings of inner nodes and returns the document.
Printing: TypeAlias = Generator[Any, Doc, Doc]
_N = TypeVar("_N", bound=ast.Node)


@record
class ListEntry:
    """One element of a list with the comments around it; `blank` says an empty line is before it."""

    doc: Doc
    blank: bool
    leading: list[Remark]
    trailing: str

    @property
    def commented(self) -> bool:
        return bool(self.leading or self.trailing)


@record
class Listed:
    """The elements between two brackets; `opening` is a comment behind the first of them, `rest` are
    those before the second."""

    opening: str
    entries: list[ListEntry] = field(default_factory=list)
    rest: list[Remark] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not (self.entries or self.rest or self.opening)

    @property
    def commented(self) -> bool:
        return bool(self.opening or self.rest) or any(entry.commented for entry in self.entries)

    @property
    def hard(self) -> bool:
        return self.commented or any(is_hard(entry.doc) for entry in self.entries)


class PrinterBase:
    """The module gives comments, empty lines and the spelling of literals; without it all is canonical."""

    def __init__(self, module: ast.Module | None) -> None:
        self.text = module.source.text if module else None
        self.comments = Comments(module)

    def run(self, printing: Printing) -> Doc:
        stack = [printing]
        value: Any = None
        while True:
            try:
                inner = stack[-1].send(value)
            except StopIteration as done:
                stack.pop()
                value = done.value
                if not stack:
                    return value  # type: ignore[no-any-return]
            else:
                stack.append(inner)
                value = None

    # --- The source ---

    def one_line(self, start: int, end: int) -> bool:
        """Whether the author wrote this on one line; true without a source."""
        return self.text is None or "\n" not in self.text[start:end]

    def blank_between(self, start: int, end: int) -> bool:
        return self.text is not None and self.text.count("\n", start, end) > 1

    def brace_behind(self, position: int) -> int:
        """The first `{` from here on, in texts where only a body can open."""
        return position if self.text is None else self.text.index("{", position)

    def beginning(self, node: ast.Node) -> int:
        """Where a node begins with its `///` lines."""
        text, start = self.text, node.start
        if text is None or getattr(node, "docs", None) is None:
            return start
        while True:
            line_end = text.rfind("\n", 0, start)
            if line_end < 0 or text[line_end:start].strip():
                return start
            line_start = text.rfind("\n", 0, line_end) + 1
            line = text[line_start:line_end]
            if not line.lstrip().startswith("///"):
                return start
            start = line_start + line.index("///")

    def remarks(self, start: int, end: int) -> list[Doc]:
        """The comments between two parts of an expression that stand on lines of their own."""
        behind, previous = self.comments.take_behind(start)
        others = self.comments.take_lines(previous, end)
        return [*_behind(behind), *(part for remark in others for part in (HARD, remark.text))]

    # --- Lists ---

    def each(self, nodes: Sequence[_N], one: Callable[[_N], Printing]) -> Generator[Any, Doc, list[Doc]]:
        docs = []
        for node in nodes:
            docs.append((yield one(node)))
        return docs

    def listed(
        self, nodes: Sequence[_N], start: int, end: int, one: Callable[[_N], Printing]
    ) -> Generator[Any, Doc, Listed]:
        """The printed nodes of a list that stands from behind its opening bracket, if it has one, to
        its closing one."""
        opening, previous = self.comments.take_behind(start) if start else ("", 0)
        listed = Listed(opening)
        for node in nodes:
            beginning = self.beginning(node)
            leading, previous = self.comments.take(previous, beginning)
            blank = self.blank_between(previous, beginning)
            doc = yield one(node)
            # Comments in places where none is printed move before the element.
            inner, _ = self.comments.take(beginning, node.end)
            trailing, previous = self.comments.take_behind(node.end)
            listed.entries.append(ListEntry(doc, blank, leading + inner, trailing))
        listed.rest, _ = self.comments.take(previous, end)
        return listed

    def bracketed(
        self,
        brackets: str,
        nodes: Sequence[_N],
        place: tuple[int, int],
        one: Callable[[_N], Printing],
        *,
        padding: Doc = SOFT,
        broken: bool = False,
    ) -> Printing:
        """`(a, b)` on one line, or one element on each with a comma behind the last."""
        listed = yield from self.listed(nodes, *place, one)
        return self.surrounded(brackets, listed, padding, broken)

    def surrounded(
        self, brackets: str, listed: Listed, padding: Doc = SOFT, broken: bool = False, comma: bool = True
    ) -> Doc:
        """`comma`: whether one may stand behind the last element."""
        opening, closing = brackets[0], brackets[1]
        if listed.empty:
            return brackets
        body = indent(padding, separated(listed, COMMA_IF_BROKEN if comma else ""))
        return group(
            opening, *_behind(listed.opening), body, padding, closing, broken=broken or listed.commented
        )

    def body_of_lines(self, listed: Listed) -> Doc:
        """`{ … }` with each element on a line of its own."""
        if listed.empty:
            return "{}"
        lines = indent(HARD, stacked(listed)) if listed.entries or listed.rest else ""
        return concat("{", *_behind(listed.opening), lines, HARD, "}")


def separated(listed: Listed, ending: Doc) -> Doc:
    """Elements with commas between them, and something behind the last."""
    parts: list[Doc] = []
    for number, entry in enumerate(listed.entries):
        if number:
            first_blank = entry.leading[0].blank if entry.leading else entry.blank
            parts.append(BLANK if first_blank and listed.hard else LINE)
        last = number == len(listed.entries) - 1
        comma = ending if last and not (listed.rest and ending) else ","
        parts += [*_before(entry), entry.doc, comma, *_behind(entry.trailing)]
    return concat(*parts, *_remarks(listed.rest, bool(parts)))


def stacked(listed: Listed) -> Doc:
    """Elements each on lines of its own, with the author's empty lines between them."""
    parts: list[Doc] = []
    for entry in listed.entries:
        first_blank = entry.leading[0].blank if entry.leading else entry.blank
        if parts:
            parts.append(BLANK if first_blank else HARD)
        parts += [*_before(entry), entry.doc, *_behind(entry.trailing)]
    return concat(*parts, *_remarks(listed.rest, bool(parts)))


def _remarks(remarks: list[Remark], begun: bool) -> list[Doc]:
    parts: list[Doc] = []
    for remark in remarks:
        if begun:
            parts.append(BLANK if remark.blank else HARD)
        parts.append(remark.text)
        begun = True
    return parts


def _before(entry: ListEntry) -> list[Doc]:
    parts = _remarks(entry.leading, False)
    if parts:
        parts.append(BLANK if entry.blank else HARD)
    return parts


def _behind(comment: str) -> list[Doc]:
    return [Behind(comment)] if comment else []

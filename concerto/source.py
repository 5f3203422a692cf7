"""Source text and places in it.

A `Source` is one file's text; a `Span` is a half-open range of code points in it. AST nodes keep
only `start` and `end`, and a `Span` is made when somebody has to be shown the place.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from concerto.records import field, record


@record(eq=False, slots=False)
class Source:
    """One file: `path` as it is shown to people, `text` after decoding (no BOM, `\\n` line ends)."""

    path: str
    text: str = field(repr=False)

    @cached_property
    def line_starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; a column counts code points."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line (from 1) without its line break; empty past the end."""
        if line > len(self.line_starts):
            return ""
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]

    def span(self, start: int, end: int) -> Span:
        return Span(self, start, end)

    def rewrite(self, text: str) -> None:
        """Have another text: the places in it are then the editor's business, who moves them."""
        self.text = text
        self.__dict__.pop("line_starts", None)


@record(frozen=True)
class Span:
    """Code points `start` up to `end` of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def moved(self, source: Source, behind: int, by: int) -> Span:
        """The same in a text in which all that stood behind a place was moved."""
        if source is not self.source or self.end < behind:
            return self
        return Span(source, self.start + by if self.start >= behind else self.start, self.end + by)

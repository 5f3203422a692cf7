"""Hands out the comments of a module to the places where they are printed, each once."""

from __future__ import annotations

import re
from bisect import bisect_left

from concerto.records import frozen
from concerto.syntax import ast

_SAME_LINE = re.compile(r"[ \t,;]*")


@frozen
class Remark:
    """A comment; `blank` says that an empty line is before it."""

    text: str
    blank: bool


class Comments:
    def __init__(self, module: ast.Module | None) -> None:
        self.text = module.source.text if module else ""
        self.comments = module.comments if module else []
        self.starts = [comment.start for comment in self.comments]
        self.taken = [False] * len(self.comments)

    def take(self, start: int, end: int) -> tuple[list[Remark], int]:
        """What is left of the comments that begin in this stretch, and where the last of them ends."""
        remarks = []
        previous = start
        for index in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
            comment = self.comments[index]
            if not self.taken[index]:
                self.taken[index] = True
                remarks.append(Remark(comment.text, self.text.count("\n", previous, comment.start) > 1))
            previous = max(previous, comment.end)
        return remarks, previous

    def take_lines(self, start: int, end: int) -> list[Remark]:
        """What is left of the comments in this stretch that reach to the end of their line."""
        remarks = []
        for index in range(bisect_left(self.starts, start), bisect_left(self.starts, end)):
            comment = self.comments[index]
            if not self.taken[index] and comment.text.startswith("//"):
                self.taken[index] = True
                remarks.append(Remark(comment.text, False))
        return remarks

    def take_behind(self, position: int) -> tuple[str, int]:
        """The comment that ends the line that something ends on, and where it ends."""
        index = bisect_left(self.starts, position)
        if index == len(self.starts) or self.taken[index]:
            return "", position
        comment = self.comments[index]
        between = _SAME_LINE.match(self.text, position)
        assert between is not None
        ends_line = self.text[comment.end : comment.end + 1] in ("", "\n")
        if between.end() != comment.start or "\n" in comment.text or not ends_line:
            return "", position
        self.taken[index] = True
        return comment.text, comment.end

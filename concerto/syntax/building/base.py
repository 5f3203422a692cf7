"""What all parts of the tree builder share: plain lists and values, identifiers, reports."""

from __future__ import annotations

from typing import Any, TypeAlias

from concerto.diagnostics import Problem, Problems, UnexpectedToken
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.tokens import Token

Children: TypeAlias = list[Any]


class BuilderBase:
    def __init__(self, source: Source, problems: Problems, docs: dict[int, ast.Comment]) -> None:
        self.source = source
        self.problems = problems
        self.docs = docs

    def report(self, problem: Problem) -> None:
        self.problems.add(problem)

    def unexpected(self, start: int, end: int, message: str, advice: str = "") -> None:
        self.report(UnexpectedToken(Span(self.source, start, end), message, help=advice))

    def take_docs(self, *starts: int) -> str | None:
        """The `///` text that stands before the first of these offsets that has one."""
        for start in starts:
            doc = self.docs.pop(start, None)
            if doc is not None:
                return doc.text
        return None

    # --- Lists and values that stand for themselves ---

    def empty(self, c: Children) -> list[Any]:
        return []

    def nothing(self, c: Children) -> None:
        return None

    def first(self, c: Children) -> Any:
        return c[0]

    def second(self, c: Children) -> Any:
        return c[1]

    def error_member(self, c: Children) -> None:
        """Where the recovery gave up; lists leave it out."""

    def one(self, c: Children) -> list[Any]:
        return c if c[0] is not None else []

    def append(self, c: Children) -> Any:
        if c[1] is not None:
            c[0].append(c[1])
        return c[0]

    def append_after_comma(self, c: Children) -> Any:
        if c[2] is not None:
            c[0].append(c[2])
        return c[0]

    def append_both(self, c: Children) -> Any:
        c[0] += [item for item in c[1:] if item is not None]
        return c[0]


def ident(token: Token) -> ast.Ident:
    return ast.Ident(token.start, token.end, token.text)


def name_path(token: Token) -> ast.Path:
    start, end = token.start, token.end
    return ast.Path(start, end, [ast.PathSegment(start, end, ast.Ident(start, end, token.text), [])])

"""Tests of the front end; `parsed` and `codes` are what they share."""

from __future__ import annotations

from pathlib import Path

from concerto.diagnostics import Problem, Problems
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse

HERE = Path(__file__).parent
WHOLE_SYNTAX = (HERE / "whole_syntax.conc").read_text(encoding="utf-8")


def parsed(text: str) -> tuple[ast.Module, list[Problem]]:
    problems = Problems()
    return parse(Source("test.conc", text), problems), list(problems)


def module_of(text: str) -> ast.Module:
    """The tree of a text that must have no mistake."""
    module, problems = parsed(text)
    assert not problems, [(problem.code, problem.message) for problem in problems]
    return module


def statements_of(body: str) -> ast.Block:
    """The body of a function around these statements."""
    item = module_of("fn main() {" + body + "}").items[0]
    assert isinstance(item, ast.FnDecl) and item.body is not None
    return item.body


def expression_of(text: str) -> ast.Expr:
    statement = statements_of(f"let it = {text};").statements[0]
    assert isinstance(statement, ast.Let) and statement.value is not None
    return statement.value


def found(text: str) -> list[tuple[str, int, int]]:
    """Code, line and column of every problem."""
    return [
        (problem.code, *problem.span.source.line_column(problem.span.start)) for problem in parsed(text)[1]
    ]

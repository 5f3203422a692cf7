"""Problems as workflow commands, which GitHub shows beside the changed lines."""

from __future__ import annotations

from concerto.diagnostics.problem import Problem
from concerto.diagnostics.rendering.display import displayed


def render(problems: list[Problem]) -> str:
    return "".join(_command(problem) + "\n" for problem in problems)


def _command(problem: Problem) -> str:
    source = problem.span.source
    line, column = source.line_column(problem.span.start)
    end_line, end_column = source.line_column(problem.span.end)
    properties = {"file": source.path, "line": str(line), "endLine": str(end_line)}
    # Columns of a range over several lines are refused by the service.
    if line == end_line:
        properties |= {"col": str(column), "endColumn": str(max(column, end_column - 1))}
    properties["title"] = f"{problem.code}: {problem.title}"
    text = problem.message + (f"\nhelp: {problem.help}" if problem.help else "")
    shown = "\n".join(map(displayed, text.split("\n")))
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{problem.severity} {listed}::{_data(shown)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

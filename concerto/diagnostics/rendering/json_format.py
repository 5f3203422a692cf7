"""Problems as one JSON document for tools (reference, section 19).

Lines and columns count from 1, columns in code points, the end is exclusive. Labels and related
places are told as notes.
"""

from __future__ import annotations

import json

from concerto.diagnostics.problem import Problem


def render(problems: list[Problem]) -> str:
    return json.dumps({"diagnostics": [_diagnostic(problem) for problem in problems]}, indent=2) + "\n"


def _diagnostic(problem: Problem) -> dict[str, object]:
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "file": problem.file,
        "line": problem.line,
        "column": problem.column,
        "end_line": problem.end_line,
        "end_column": problem.end_column,
        "help": problem.help,
        "notes": _notes(problem),
    }


def _notes(problem: Problem) -> list[str]:
    notes = [problem.label] if problem.label else []
    notes += problem.notes
    for span, label in problem.related:
        line, column = span.source.line_column(span.start)
        notes.append(f"{label} ({span.source.path}:{line}:{column})")
    return notes

"""Problems as a SARIF 2.1.0 log, the format of code scanning services."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import quote

from concerto.diagnostics.explanation import explanation_of
from concerto.diagnostics.problem import Problem
from concerto.source import Span
from concerto.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(problems: list[Problem]) -> str:
    classes = sorted({type(problem) for problem in problems}, key=lambda cls: cls.code)
    index = {cls: number for number, cls in enumerate(classes)}
    run = {
        "tool": {
            "driver": {
                "name": "concertoc",
                "version": __version__,
                "rules": [_rule(cls) for cls in classes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[type(problem)]) for problem in problems],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(cls: type[Problem]) -> dict[str, object]:
    return {
        "id": cls.code,
        "name": cls.__name__,
        "shortDescription": {"text": cls.title},
        "fullDescription": {"text": explanation_of(cls).text},
        "defaultConfiguration": {"level": cls.severity},
    }


def _result(problem: Problem, rule: int) -> dict[str, object]:
    message = problem.message
    for more in (problem.label, *problem.notes, problem.help and f"help: {problem.help}"):
        message += f"\n{more}" if more else ""
    result: dict[str, object] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": message},
        "locations": [_location(problem.span)],
    }
    if problem.related:
        result["relatedLocations"] = [
            {"id": number, **_location(span), "message": {"text": label}}
            for number, (span, label) in enumerate(problem.related, 1)
        ]
    return result


def _location(span: Span) -> dict[str, object]:
    line, column = span.source.line_column(span.start)
    end_line, end_column = span.source.line_column(span.end)
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {
        "physicalLocation": {"artifactLocation": {"uri": _uri(span.source.path)}, "region": region},
    }


def _uri(path: str) -> str:
    pure = Path(path)
    return pure.as_uri() if pure.is_absolute() else quote(os.fsencode(pure.as_posix()))

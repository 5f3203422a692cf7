"""Diagnostics: problems in the protocol's form."""

from __future__ import annotations

from lsprotocol.types import (
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
)

from concerto.diagnostics import Problem
from concerto.language_server.documents import Documents
from concerto.language_server.names import file_of
from concerto.language_server.positions import range_of_span

_UNNEEDED = frozenset({"W0001", "W0002", "W0003", "W0005"})


def diagnostic_of(documents: Documents, problem: Problem) -> Diagnostic:
    related = [
        DiagnosticRelatedInformation(
            Location(documents.uri_of(file_of(span.source)), range_of_span(span)), label
        )
        for span, label in problem.related
    ]
    return Diagnostic(
        range=range_of_span(problem.span),
        message=_message(problem),
        severity=DiagnosticSeverity.Error if problem.severity == "error" else DiagnosticSeverity.Warning,
        code=problem.code,
        source="concerto",
        related_information=related or None,
        tags=[DiagnosticTag.Unnecessary] if problem.code in _UNNEEDED else None,
    )


def _message(problem: Problem) -> str:
    lines = [problem.message]
    if problem.help:
        lines.append(f"help: {problem.help}")
    lines += [f"note: {note}" for note in problem.notes]
    return "\n".join(lines)

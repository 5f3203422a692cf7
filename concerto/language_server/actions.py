"""Code actions: the fixes of the problems in a part of a document, one by one and all at once."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    OptionalVersionedTextDocumentIdentifier,
    Range,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from concerto.diagnostics import Edit, Problem
from concerto.language_server.diagnostics import diagnostic_of
from concerto.language_server.documents import Documents
from concerto.language_server.names import file_of
from concerto.language_server.positions import offset_at, range_of_span
from concerto.language_server.programs import EditedProgram
from concerto.source import Source


def code_actions(
    documents: Documents, program: EditedProgram, source: Source, part: Range
) -> list[CodeAction]:
    program.check(source)
    return fixes(documents, source, (each for each in program.problems() if each.span.source is source), part)


def fixes(documents: Documents, source: Source, found: Iterable[Problem], part: Range) -> list[CodeAction]:
    """Those of some problems of a document."""
    start, end = offset_at(source, part.start), offset_at(source, part.end)
    problems = [problem for problem in found if problem.fix]
    actions = [
        CodeAction(
            _title(problem),
            kind=CodeActionKind.QuickFix,
            diagnostics=[diagnostic_of(documents, problem)],
            is_preferred=True,
            edit=_change(documents, problem.fix),
        )
        for problem in problems
        if problem.span.start <= end and start <= problem.span.end
    ]
    every = list(dict.fromkeys(edit for problem in problems for edit in problem.fix))
    if len(problems) > 1 and not _overlap(every):
        edit = _change(documents, every)
        actions.append(CodeAction("apply all fixes", kind=CodeActionKind.SourceFixAll, edit=edit))
    return actions


def _title(problem: Problem) -> str:
    """The help, as what is to be done."""
    return problem.help.replace("did you mean", "change to").removesuffix("?")


def _overlap(edits: list[Edit]) -> bool:
    places = sorted((edit.span.source.path, edit.span.start, edit.span.end) for edit in edits)
    return any(left[0] == right[0] and right[1] <= left[2] for left, right in pairwise(places))


def _change(documents: Documents, edits: Iterable[Edit]) -> WorkspaceEdit:
    by_file: dict[str, list[TextEdit]] = {}
    for edit in edits:
        uri = documents.uri_of(file_of(edit.span.source))
        by_file.setdefault(uri, []).append(TextEdit(range_of_span(edit.span), edit.text))
    return WorkspaceEdit(
        document_changes=[
            TextDocumentEdit(OptionalVersionedTextDocumentIdentifier(uri, documents.version_of(uri)), [*each])
            for uri, each in by_file.items()
        ]
    )

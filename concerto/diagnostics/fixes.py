"""Fixes, or quick fixes: help that can be applied to the text as it is said.

A problem may have the `edits` that mend it. Where the help is to write something else in the place of the
problem, or to add a `use`, the help itself knows it: `Advice`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from concerto.records import record
from concerto.source import Source, Span


@record(frozen=True)
class Edit:
    """Another text in the place of a span."""

    span: Span
    text: str


class Advice(str):
    """Help that says what to write: `replacement` in the place of the problem, or `use`, a path to be
    imported."""

    replacement: str
    use: str

    def __new__(cls, text: str, replacement: str = "", use: str = "") -> Advice:
        advice = super().__new__(cls, text)
        advice.replacement, advice.use = replacement, use
        return advice


_WORD = r"@?[A-Za-z_]\w*|\"[^\"]*\""
_IMPORT = r"(?m)^use\b"
_FIRST_CODE = r"(?:[ \t]*//(?!/)[^\n]*\n|[ \t]*\n)*"


def edits_of(span: Span, advice: str) -> tuple[Edit, ...]:
    """What an advice about a place does to the text; nothing, if it cannot be applied by itself."""
    if not isinstance(advice, Advice):
        return ()
    if advice.use:
        return (_import(span.source, advice.use),)
    if not advice.replacement or not re.fullmatch(_WORD, span.text):
        return ()
    path, _, name = advice.replacement.rpartition("::")
    written = f"{path}::"
    before = span.source.text[: span.start]
    return (Edit(span, name if path and before.endswith(written) else advice.replacement),)


def _import(source: Source, path: str) -> Edit:
    """Before the first `use`, or behind the comments at the top."""
    first = re.search(_IMPORT, source.text) or re.match(_FIRST_CODE, source.text)
    at = 0 if first is None else first.start() if first.group().startswith("use") else first.end()
    behind = "\n" if source.text.startswith("use", at) else "\n\n"
    return Edit(source.span(at, at), f"use {path};{behind}")


def without_element(source: Source, start: int, end: int) -> Edit:
    """Takes an element out of a list, with one of the commas beside it."""
    text = source.text
    behind = re.compile(r"[ \t\n]*,[ \t]*").match(text, end)
    if behind is not None:
        return Edit(source.span(start, behind.end()), "")
    before = re.compile(r",[ \t\n]*$").search(text[:start])
    return Edit(source.span(start if before is None else before.start(), end), "")


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after those of the edits that do not touch an earlier one."""
    last = len(text) + 1
    for edit in sorted(edits, key=lambda each: (each.span.start, each.span.end), reverse=True):
        if edit.span.end < last or (edit.span.end == last and edit.span.start < edit.span.end):
            text = text[: edit.span.start] + edit.text + text[edit.span.end :]
            last = edit.span.start
    return text

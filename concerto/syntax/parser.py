"""Parses a source into its syntax tree.

`decode` turns a file's bytes into a `Source`; `parse` turns a `Source` into an `ast.Module`. Neither
raises on any input: what is wrong goes to `problems`, and the tree holds ErrorExpr and ErrorItem
where text was given up.

The tables are Lark's, the loop over them is ours: it needs neither Lark's import (100 ms) nor its
token objects, and the recovery works on the same two plain lists.
"""

from __future__ import annotations

import gc

from concerto.diagnostics import Edit, Problems, StrayDoc, UnexpectedToken
from concerto.records import record
from concerto.source import Source, Span
from concerto.syntax import ast
from concerto.syntax.brackets import balance
from concerto.syntax.building import TreeBuilder
from concerto.syntax.decoding import decode
from concerto.syntax.disambiguate import disambiguate
from concerto.syntax.lalr import LalrParser
from concerto.syntax.lexer import Lexed, scan
from concerto.syntax.recovery.panic_mode import Recovery

__all__ = ["decode", "parse"]


@record
class Parsed:
    """A tree, and what was left open in its text: where the parts begin whose brackets are `unpaired`, and
    whether an unclosed string or comment `cut` it."""

    tree: ast.Module
    unpaired: list[int]
    cut: bool


def parse(source: Source, problems: Problems) -> ast.Module:
    """The tree of a source; complete if `problems` got no error."""
    return parse_open(source, problems).tree


def parse_open(source: Source, problems: Problems) -> Parsed:
    """As `parse`, with what was left open."""
    # A parse makes many objects and no garbage worth collecting before its end.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _parse(source, problems)
    finally:
        if collecting:
            gc.enable()


def _parse(source: Source, problems: Problems) -> Parsed:
    lexed = scan(source, problems)
    tokens = balance(source, lexed, problems)
    items: list[ast.Item] = []
    if tokens is not None:
        for token, message, advice in disambiguate(tokens):
            lexed.mistakes.append(token.start)
            problems.add(UnexpectedToken(Span(source, token.start, token.end), message, help=advice))
        builder = TreeBuilder(source, problems, lexed.docs)
        recovery = Recovery(source, problems, lexed)
        items = LalrParser(builder).run(tokens, recovery)
        builder.report_lonely_lowest()
        _report_spare_brackets(lexed, source, problems)
        if not problems.errors:
            _report_stray_docs(lexed, source, problems)
        _keep_stray_docs(lexed, source)
    tree = ast.Module(0, len(source.text), source, items, lexed.comments)
    return Parsed(tree, lexed.unpaired, lexed.cut)


def _report_spare_brackets(lexed: Lexed, source: Source, problems: Problems) -> None:
    """A bracket without a partner follows from what else is wrong in its line."""
    lines = {source.line_column(found.span.start)[0] for found in problems if found.span.source is source}
    for problem in lexed.spare:
        if source.line_column(problem.span.start)[0] not in lines:
            problems.add(problem)


def _report_stray_docs(lexed: Lexed, source: Source, problems: Problems) -> None:
    """What the builder has not taken stands before nothing that can have docs."""
    for doc in lexed.docs.values():
        place = Span(source, doc.start, doc.end)
        edits = (Edit(place, place.text.replace("///", "//")),)
        problems.add(StrayDoc(place, "this documents nothing", help="write `//` for a comment", edits=edits))


def _keep_stray_docs(lexed: Lexed, source: Source) -> None:
    """They are in no node, so they are comments."""
    for doc in lexed.docs.values():
        start = doc.start
        for line in source.text[doc.start : doc.end].splitlines(keepends=True):
            text = line.strip()
            if text.startswith("///"):
                begin = start + line.index("///")
                lexed.comments.append(ast.Comment(begin, begin + len(text), text))
            start += len(line)
    lexed.comments.sort(key=lambda comment: comment.start)

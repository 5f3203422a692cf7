"""Programs with one error, and beside it an item of which a bracket, a word or a comma is lost."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from concerto.diagnostics import Problems
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from tests.harness.expectations import MAIN
from tests.semantics.checking import Files

_PROGRAMS = Path(__file__).parents[1] / "programs"
_PIECE = re.compile(r"[()\[\]{};:,]|\b(?:fn|struct|enum|impl|trait|let|match|if|for|while|return)\b")
_ERROR = ' let marked_as_wrong: Int = "marked_as_wrong"; '
_OUTSIDE = ("//---", "//!", "error[", "warning[")


def damaged(random: Random) -> str:
    """Its one error that was there before is in another item than the damage."""
    while True:
        text = random.choice(_whole_programs())
        items = parse(Source(MAIN, text), Problems()).items
        functions = [item for item in items if isinstance(item, ast.FnDecl) and item.body is not None]
        if functions and len(items) > 1:
            break
    wrong = random.choice(functions)
    assert wrong.body is not None
    other = random.choice([item for item in items if item is not wrong])
    lost = random.choice([match.span() for match in _PIECE.finditer(text, other.start, other.end)])
    place = wrong.body.start + 1
    changes = sorted([(place, place, _ERROR), (*lost, "")], reverse=True)
    for start, end, new in changes:
        text = text[:start] + new + text[end:]
    return text


def tells_the_error(text: str) -> bool:
    problems = Problems()
    check_program(parse(Source(MAIN, text), problems), Files(), problems)
    return any('"marked' in text[problem.span.start : problem.span.end] for problem in problems)


@cache
def _whole_programs() -> list[str]:
    """Programs of one file in which nothing is wrong."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(_PROGRAMS.rglob("*.conc"))]
    return [text for text in texts if len(text) < 6000 and not any(mark in text for mark in _OUTSIDE)]

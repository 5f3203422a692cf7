"""What is declared once is used everywhere, and the house stays in order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from concerto.diagnostics import all_problem_classes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "concerto"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 600
# A closed family of node classes is one idea, and is read best in one place.
LONG_ON_PURPOSE = {PACKAGE / "syntax" / "ast.py"}


def test_every_diagnostic_is_raised_somewhere() -> None:
    sources = [path.read_text() for path in MODULES if PACKAGE / "diagnostics" not in path.parents]
    unused = [
        f"{code} {cls.__name__}"
        for code, cls in all_problem_classes().items()
        if not any(re.search(rf"\b{cls.__name__}\b", source) for source in sources)
    ]
    assert not unused


def test_every_diagnostic_is_exported() -> None:
    import concerto.diagnostics

    for cls in all_problem_classes().values():
        assert getattr(concerto.diagnostics, cls.__name__) is cls


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_and_is_one_idea(path: Path) -> None:
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "no docstring"
    assert text.count("\n") <= LONGEST_FILE or path in LONG_ON_PURPOSE, "more than one idea"


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert not [path for path in MODULES if marks.search(path.read_text())]

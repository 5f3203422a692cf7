"""Compiling takes work that is linear in the size of a program, for every construct in every arrangement."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.parser import parse
from concerto.syntax.walk import walk
from tests.robustness import shapes
from tests.robustness.checking import compiled
from tests.robustness.growth import STEPS, growth, power

SHAPES = dict(shapes.shapes())
EVERY = 8
TODAY = [name for number, name in enumerate(SHAPES) if (number + date.today().toordinal()) % EVERY == 0]
"""To measure all of them takes minutes: each of eight days has its own. The command measures them all."""
LIMIT = 1.4
SQUARE = 2.3
NOT_LINEAR = {
    # There are as many names as modules in each of the modules.
    "UseDecl of all chained", "doubled wider",
    # A `<` is only followed so far; a broken layout begins where the width ends.
    "PathType nested", "ArrayPattern nested",
    # What an `if` makes is asked of each `if` inside of it.
    "BoolLit nested",
}  # fmt: skip
# What is kept of a file goes by its declarations; the rest of its steps are those of a compilation.
KEPT = ("list of ", "chained")
FAMILIES = (ast.Expr, ast.Stmt, ast.Pattern, ast.TypeExpr, ast.Item)
TABLES = (shapes.EXPRESSIONS, shapes.STATEMENTS, shapes.PATTERNS, shapes.TYPES, shapes.ITEMS)


@pytest.mark.parametrize("name", TODAY)
def test_work_is_linear_in_the_size(name: str, tmp_path: Path) -> None:
    with_kept = name.startswith(KEPT[0]) or (
        name.endswith(KEPT[1]) and name.partition(" ")[0] in shapes.ITEMS
    )
    steps = [step for step in STEPS if with_kept or step != "changed"]
    limit = SQUARE if name in NOT_LINEAR else LIMIT
    for step, work in growth(SHAPES[name], 6, tmp_path, steps).items():
        assert power(work) <= limit, (step, work)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_are_programs(name: str, tmp_path: Path) -> None:
    (tmp_path / "Concerto.toml").write_text(shapes.MANIFEST)
    _, problems = compiled(shapes.program(SHAPES[name], 3), tmp_path)
    assert not [problem.message for problem in problems if problem.severity == "error"]


@pytest.mark.parametrize(("family", "table"), list(zip(FAMILIES, TABLES, strict=True)))
def test_no_class_of_the_tree_is_missing(family: object, table: dict[str, object]) -> None:
    classes = {cls.__name__: cls for cls in get_args(family) if not cls.__name__.startswith("Error")}
    assert classes.keys() == table.keys()
    for name, cls in classes.items():
        assert count(cls, f"{name} beside", 9) - count(cls, f"{name} beside", 5) >= 4, name


def count(cls: type, name: str, size: int) -> int:
    """How often a class stands in the program of a shape."""
    problems = Problems()
    module = parse(Source("main.conc", shapes.program(SHAPES[name], size)), problems)
    assert not problems.errors, name
    return sum(isinstance(node, cls) for node in walk(module))

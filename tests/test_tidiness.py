"""What is declared once is used everywhere, and the house stays in order."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from concerto.diagnostics import all_problem_classes

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "concerto"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 600
FULLEST_FOLDER = 25
# Parts of a dependency that it has as packages of their own, in versions that fit.
PART_OF = {"mcp_types": "mcp", "pydantic_core": "pydantic"}
IMPORT = re.compile(
    r"^ *(?:import (?=[\w.]+(?: as \w+)?(?: *#.*)?$)|from (?=[\w.]+ import ))(\w+)", re.MULTILINE
)
# A closed family of node classes is one idea, and is read best in one place.
LONG_ON_PURPOSE = {PACKAGE / "syntax" / "ast.py"}


def test_every_diagnostic_is_raised_somewhere() -> None:
    words = {
        word
        for path in MODULES
        if PACKAGE / "diagnostics" not in path.parents
        for word in re.findall(r"\w+", path.read_text())
    }
    unused = {code: cls.__name__ for code, cls in all_problem_classes().items() if cls.__name__ not in words}
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


def test_no_folder_is_a_heap() -> None:
    counts = Counter(path.parent for path in MODULES if "_data" not in path.parts)
    # One file for each module of the library.
    del counts[PACKAGE / "natives"]
    assert len(counts) > 30
    assert not [folder for folder, count in counts.items() if count > FULLEST_FOLDER]


def test_nothing_is_left_to_do() -> None:
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert not [path for path in MODULES if marks.search(path.read_text())]


def test_what_is_imported_is_declared_as_a_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [
        each
        for name, found in project["optional-dependencies"].items()
        for each in found
        if name not in ("dev", "docs")
    ]
    declared = {re.split(r"[<>=\[]", each)[0] for each in [*project["dependencies"], *extras]}
    homes = {name: {home.lower() for home in found} for name, found in packages_distributions().items()}
    # The plugin is loaded by pytest, or not at all.
    imported = {name for path in MODULES if path.name != "pytest_plugin.py" for name in imports(path)}
    assert not [name for name in imported if not declared & homes[PART_OF.get(name, name)]]


def imports(path: Path) -> set[str]:
    """The packages of others that a module imports."""
    found = set(IMPORT.findall(path.read_text()))
    return found - sys.stdlib_module_names - {"concerto"}

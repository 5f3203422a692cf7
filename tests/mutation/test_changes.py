"""Changes do change something, and what is explained is there."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.mutation.__main__ import explanations, offered, parts
from tests.mutation.changes import broken, changes_of, marked
from tests.mutation.importing import ROOT

_SMALL = """
def sign(number):
    "A docstring."
    if number > 0 and not number is None:
        return min(number, 1)
    total = [each for each in range(2) if each]
    total.append(0)
    return len(total) - 1
"""


def test_each_change_is_another_module(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(_SMALL)
    changes = changes_of(tmp_path, "small.py")
    modules = {ast.unparse(broken(_SMALL.encode(), change.number)) for change in changes}
    assert len(modules) == len(changes) == len({change.name for change in changes}) > 10
    assert ast.unparse(ast.parse(_SMALL)) not in modules


def test_a_marked_module_tells_which_statements_ran() -> None:
    found: dict[str, object] = {"__reached__": bytearray(20)}
    exec(compile(marked(_SMALL.encode()), "small.py", "exec"), found)
    sign, lines = found["sign"], found["__reached__"]
    assert callable(sign) and isinstance(lines, bytearray)
    assert sign.__doc__ == "A docstring."
    assert not any(lines)
    assert sign(5) == 1
    assert [number for number, mark in enumerate(lines) if mark] == [4, 5]


def test_what_is_explained_is_still_offered() -> None:
    """An explanation names a change as the report does; it goes when the code does."""
    offers = {change.name for change in offered()}
    assert not explanations().keys() - offers
    assert all(explanations().values())


def test_names_of_changes_are_unique() -> None:
    changes = offered("concerto/emit")
    assert len({change.name for change in changes}) == len(changes)
    assert all((ROOT / change.path).exists() for change in changes)


def test_the_tests_of_each_part_are_there() -> None:
    assert not [test for tests in parts().values() for test in tests if not (ROOT / test).exists()]

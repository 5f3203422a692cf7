"""The collection of problems, suggestions, and the pages of the codes."""

from __future__ import annotations

import pytest

from concerto.diagnostics import (
    MismatchedTypes,
    Problem,
    Problems,
    UnknownName,
    UnusedName,
    all_problem_classes,
    suggest,
)
from concerto.diagnostics.explanation import explain
from concerto.source import Source

SOURCE = Source("a.conc", "let x = y;\n")


def test_problems_come_in_source_order_whatever_order_they_were_found_in() -> None:
    problems = Problems()
    late, early = UnknownName(SOURCE.span(8, 9), "late"), UnusedName(SOURCE.span(4, 5), "early")
    problems.add(late)
    assert problems.errors
    problems.add(early)
    assert list(problems) == [early, late]


def test_warnings_are_no_errors() -> None:
    problems = Problems()
    problems.add(UnusedName(SOURCE.span(4, 5), "unused"))
    assert not problems.errors
    assert len(problems) == 1


def test_repeats_are_dropped_and_one_place_is_not_flooded() -> None:
    problems = Problems()
    for _ in range(5):
        problems.add(UnknownName(SOURCE.span(8, 9), "same"))
    assert len(problems) == 1
    for number in range(5):
        problems.add(UnknownName(SOURCE.span(8, 9), f"number {number}"))
    assert len(problems) == 3
    problems.add(MismatchedTypes(SOURCE.span(8, 9), "another code"))
    assert len(problems) == 4


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("lenght", ["length", "left"], "length"),
        ("totl", ["total", "tally"], "total"),
        ("userName", ["user_name", "user_names"], "user_name"),
        ("len", ["length", "last"], "length"),
        ("teh", ["the"], "the"),
        ("x", ["y"], "y"),
        ("apple", ["orange", "pear"], None),
        ("name", ["name"], None),
        ("abc", [], None),
    ],
)
def test_suggestions(name: str, candidates: list[str], expected: str | None) -> None:
    assert suggest(name, candidates) == expected
    assert suggest(name, reversed(candidates)) == expected


@pytest.mark.parametrize("code", all_problem_classes())
def test_every_code_has_a_page(code: str) -> None:
    page = explain(code.lower())
    assert page is not None
    assert len(page.text) > 60
    assert page.text.endswith(".")
    assert page.title[0].islower() or page.title[0] in "`I@"
    assert not page.title.endswith(".")


def test_an_unknown_code_has_no_page() -> None:
    assert explain("E9999") is None


def test_a_code_belongs_to_one_class() -> None:
    with pytest.raises(AssertionError, match="E0301"):
        type("Again", (Problem,), {}, code="E0301", title="again")

"""The pages of `concertoc explain`: the wrong program has exactly the problem, the right one has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.diagnostics import Problem, Problems, all_problem_classes, render
from concerto.diagnostics.explanation import Example, explanation_of
from tests.harness.expectations import read_expectations
from tests.harness.running import compile_program

# What no program of a readable length, or no compiler, can show.
WITHOUT_EXAMPLE = {"E0105", "E0109", "E0603", "E0506"}
CODES = [code for code in all_problem_classes() if code not in WITHOUT_EXAMPLE]


def found_in(example: Example, folder: Path, *, to_run: bool) -> list[Problem]:
    match example.language:
        case "concerto":
            files = read_expectations(example.text).files
            return compile_program(files, folder, to_run=to_run)[1]
        case "toml":
            from concerto.manifest.reading import read_manifest

            problems = Problems()
            read_manifest(example.text.encode(), "Concerto.toml", problems)
            return list(problems)
        case "json":
            from concerto.ir.codec import decode

            problems = Problems()
            decode(example.text.encode(), "main.conc-ir", problems)
            return list(problems)
    raise AssertionError(f"no way to try an example in {example.language}")


@pytest.mark.parametrize("code", CODES)
def test_the_wrong_program_has_exactly_this_problem(code: str, tmp_path: Path) -> None:
    wrong = explanation_of(all_problem_classes()[code]).wrong
    assert wrong is not None
    found = found_in(wrong, tmp_path, to_run=code == "E0110")
    assert [problem.code for problem in found] == [code], render(found)


@pytest.mark.parametrize("code", CODES)
def test_the_right_program_has_no_problem(code: str, tmp_path: Path) -> None:
    right = explanation_of(all_problem_classes()[code]).right
    if right is None:
        assert code.startswith("E06"), "only a broken IR file has no right form to show"
        return
    found = found_in(right, tmp_path, to_run=code == "E0110")
    assert not found, render(found)


def test_the_list_of_codes_without_example_is_true() -> None:
    for code in WITHOUT_EXAMPLE:
        page = explanation_of(all_problem_classes()[code])
        assert page.wrong is None and page.right is None

"""Collects `tests/programs/**/*.conc`: one test for what the compiler says, one for each tier's run, one
for what the oracle says of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from concerto.diagnostics import Problem, render
from concerto.vm.machine import Tier
from tests.harness.expectations import BadExpectation, Expectations, read_expectations
from tests.harness.running import Outcome, compile_program, read_again, run_program
from tests.oracle import LEFT_OUT, PROGRAMS, evaluate

TIERS: tuple[Tier, ...] = ("python", "interpreter")


class Unexpected(Exception):
    """The program did something else than its comments say."""


class ProgramFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        try:
            expected = read_expectations(self.path.read_text(encoding="utf-8"))
        except BadExpectation as mistake:
            raise self.CollectError(f"{self.path}: {mistake}") from None
        yield CompileItem.from_parent(self, name="compiles", expected=expected)
        if expected.wants_main and not expected.errors:
            for tier in TIERS:
                yield RunItem.from_parent(self, name=tier, expected=expected, tier=tier)
            if str(self.path.relative_to(PROGRAMS)) not in LEFT_OUT:
                yield OracleItem.from_parent(self, name="oracle", expected=expected)


class ProgramItem(pytest.Item):
    def __init__(self, *, expected: Expectations, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.expected = expected

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        if isinstance(excinfo.value, Unexpected):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.path.name}: {self.name}"


class CompileItem(ProgramItem):
    """Every announced diagnostic appears, and no other."""

    def runtest(self) -> None:
        if self.expected.empty:
            raise Unexpected(f"{self.path.name} expects nothing: it proves nothing")
        with tempfile.TemporaryDirectory() as folder:
            wants_main = self.expected.wants_main
            _, problems = compile_program(self.expected.files, Path(folder), to_run=wants_main)
        compare_problems(self.expected, problems)


class RunItem(ProgramItem):
    """The run prints what is announced and ends with the status announced."""

    def __init__(self, *, tier: Tier, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.tier = tier

    def runtest(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            module, problems = compile_program(self.expected.files, folder, to_run=True)
            if module is None:
                raise Unexpected(f"does not compile:\n{render(problems)}")
            if self.tier == "interpreter":
                module = read_again(module)
            outcome = run_program(module, self.expected, folder, self.tier)
        compare_outcome(self.expected, outcome)


class OracleItem(ProgramItem):
    """What is announced is what the language reference says, as an evaluator of its own reads it."""

    def runtest(self) -> None:
        expected = self.expected
        outcome = evaluate(expected.files, expected.arguments, expected.environment)
        complaints = _complaints(expected, outcome.stdout, outcome.status)
        if complaints:
            raise Unexpected("\n".join([*complaints, f"stderr:\n{outcome.stderr}"]))


def compare_outcome(expected: Expectations, outcome: Outcome) -> None:
    """Raises `Unexpected` unless the run did what is announced."""
    complaints = _complaints(expected, outcome.stdout, outcome.status)
    complaints += [f"not on stderr: {part}" for part in expected.stderr if part not in outcome.stderr]
    if complaints:
        raise Unexpected("\n".join([*complaints, f"stderr:\n{outcome.stderr}"]))


def _complaints(expected: Expectations, stdout: str, status: int) -> list[str]:
    complaints = []
    if (output := _lines(stdout)) != expected.output:
        complaints.append(_difference(expected.output, output))
    if status != (expected.status or 0):
        complaints.append(f"exit status {status}, expected {expected.status or 0}")
    return complaints


def compare_problems(expected: Expectations, problems: list[Problem]) -> None:
    """Raises `Unexpected` unless announced and found diagnostics pair off."""
    left = list(problems)
    complaints = []
    for announced in expected.problems:
        for problem in left:
            line, _ = problem.span.source.line_column(problem.span.start)
            place = (problem.span.source.path, line, problem.code)
            if (
                place == (announced.file, announced.line, announced.code)
                and announced.message in problem.message
            ):
                left.remove(problem)
                complaints += _missing_details(announced.details, problem)
                break
        else:
            where = f"{announced.file}:{announced.line}"
            complaints.append(f"not reported: {where}: {announced.code} {announced.message}")
    if left:
        complaints.append(f"not announced:\n{render(left)}")
    if complaints:
        raise Unexpected("\n".join(complaints))


def _missing_details(details: list[tuple[str, str]], problem: Problem) -> list[str]:
    labels = [problem.label, *(label for _, label in problem.related)]
    texts = {"help": [problem.help], "note": list(problem.notes), "label": labels}
    return [
        f"{problem.code} has no {kind} with `{part}`, but {texts[kind]}"
        for kind, part in details
        if not any(part in text for text in texts[kind])
    ]


def _lines(output: str) -> list[str]:
    return [line.rstrip() for line in output.splitlines()]


def _difference(expected: list[str], found: list[str]) -> str:
    for number, (wanted, line) in enumerate(zip(expected, found, strict=False), 1):
        if wanted != line:
            return f"output line {number}: expected `{wanted}`, found `{line}`\n{_listed(found)}"
    return f"{len(found)} lines of output, expected {len(expected)}\n{_listed(found)}"


def _listed(lines: list[str]) -> str:
    return "output:\n" + "\n".join(f"  {line}" for line in lines)

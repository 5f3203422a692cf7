"""What these tests share: texts around an expression, and what becomes of a program."""

from __future__ import annotations

from pathlib import Path

from concerto.diagnostics import Problem
from concerto.ir.module import ModuleIR
from tests.harness.expectations import MAIN, Expectations
from tests.harness.programs import TIERS
from tests.harness.running import compile_program, run_program


def printing(expression: str) -> str:
    return f"fn main() {{ println({expression}); }}\n"


def doing(statements: str) -> str:
    return f"fn main() {{\n{statements}\n}}\n"


def compiled(text: str, folder: Path) -> tuple[ModuleIR | None, list[Problem]]:
    return compile_program({MAIN: text}, folder, to_run=True)


def expect_output(text: str, output: str, folder: Path) -> None:
    """The program compiles without a remark and prints this on both tiers."""
    module, problems = compiled(text, folder)
    assert module is not None and not problems, [problem.message for problem in problems]
    for tier in TIERS:
        outcome = run_program(module, Expectations(), folder, tier)
        assert (outcome.stdout, outcome.status) == (output, 0), outcome.stderr


def expect_codes(text: str, codes: list[str], folder: Path) -> None:
    """The program has exactly these diagnostics."""
    module, problems = compiled(text, folder)
    assert module is None
    assert [problem.code for problem in problems] == codes, [problem.message for problem in problems]

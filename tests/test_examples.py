"""The examples work on both tiers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from concerto.diagnostics import render
from concerto.ir.module import ModuleIR
from concerto.vm.machine import Tier
from tests.harness.expectations import MAIN, Expectations
from tests.harness.programs import TIERS
from tests.harness.running import compile_program, run_program

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
CORE_TOUR = """\
Hello, Ada!
Good morning, Grace!
fib(20) = 6765
moved by 4.242640687119285, and Point { x: 0.0, y: 0.0 } stayed
AGENTS PLAY CONCERT
o occurs 2 times
next year: 42
sorry: an age is not negative
sorry: `many` is no number
27 reaches 1 in 111 steps
"""


def compiled(name: str, folder: Path) -> ModuleIR:
    files = {MAIN: (EXAMPLES / name / MAIN).read_text()}
    module, problems = compile_program(files, folder, to_run=True)
    assert not problems, render(problems)
    assert module is not None
    return module


@pytest.mark.parametrize("tier", TIERS)
def test_the_core_tour(tier: Tier, tmp_path: Path) -> None:
    outcome = run_program(compiled("core_tour", tmp_path), Expectations(), tmp_path, tier)
    assert (outcome.stdout, outcome.stderr, outcome.status) == (CORE_TOUR, "", 0)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", ["hello_agent", "calculator_tools", "model_writes"])
def test_agents_with_a_mocked_model(name: str, tier: Tier, tmp_path: Path) -> None:
    module = compiled(name, tmp_path)
    outcome = run_program(module, Expectations(flags={"mock", "quiet"}), tmp_path, tier)
    assert outcome.status == 0, outcome.stderr
    assert "[mock response to: " in outcome.stdout


def test_the_tests_in_examples_pass() -> None:
    command = [sys.executable, "-m", "concerto.cli", "test", str(EXAMPLES)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stdout + ended.stderr
    for path in EXAMPLES.glob(f"*/{MAIN}"):
        assert f"{path.parent.name}/{MAIN} :: " in ended.stdout, path


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_example_is_tested(path: Path) -> None:
    tests = [Path(__file__), *Path(__file__).parent.glob("*/test_*examples.py")]
    assert any(f'"{path.name}"' in test.read_text() for test in tests)
    assert (path / MAIN).is_file()

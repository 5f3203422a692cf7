"""All that is written in the language here is formatted: the library, the examples, the test programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.cli.formatting import format_files
from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax.parser import parse
from tests.harness.expectations import read_expectations
from tests.harness.formatting import PROGRAMS, formatted_program, parts_of

ROOT = Path(__file__).parents[1]
SYNTAX_CODES = ("E00", "E010")
FILES = sorted(PROGRAMS.rglob("*.conc"))
FOLDERS = sorted({path.parent for path in FILES})


@pytest.mark.parametrize("folder", ["stdlib", "examples"])
def test_library_and_examples(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert format_files((str(ROOT / folder),), check=True) == 0, capsys.readouterr().err


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_programs(folder: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in folder.glob("*.conc")}
    unformatted = [path.name for path, text in texts.items() if formatted_program(text) != text]
    assert not unformatted, "run `python -m tests.harness.formatting`"


def test_only_announced_syntax_errors_keep_a_file_from_being_formatted() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        announced = {
            problem.file
            for problem in read_expectations(text).problems
            if problem.code.startswith(SYNTAX_CODES)
        }
        broken = {
            part.name for part in parts_of(text) if part.name.endswith(".conc") and not parses(part.text)
        }
        assert broken <= announced, path


def parses(text: str) -> bool:
    problems = Problems()
    parse(Source("program.conc", text), problems)
    return not problems.errors

"""Every error is told, whatever else is wrong in the program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from concerto.diagnostics import Problem
from tests.harness.expectations import MAIN
from tests.harness.running import compile_program

PROGRAMS = Path(__file__).parents[1] / "programs"
PARTS = 10


def faulty_programs() -> list[str]:
    """The programs of one file with errors that the checker finds. Where a stage of a pipeline brings tools
    in, nobody knows which an execution has (E0415)."""
    texts = (path.read_text() for path in sorted(PROGRAMS.rglob("*.conc")))
    return [
        text
        for text in texts
        if "// error[E0" in text
        and "error[E00" not in text
        and "error[E01" not in text
        and "\n//---" not in text
        and "@tools(" not in text
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_an_error_is_told_among_many(part: int, tmp_path: Path) -> None:
    """What is told of a program that is a module by itself is told where that is one of many."""
    texts = faulty_programs()[part::PARTS]
    alone = [errors([text], tmp_path) for text in texts]
    assert sum(map(len, alone)) > 50
    missing = Counter(error for told in alone for error in told) - Counter(errors(texts, tmp_path))
    assert not missing


def errors(texts: Sequence[str], folder: Path) -> list[tuple[str, str]]:
    modules = "\n".join(f"mod m{number} {{\n{text}\n}}" for number, text in enumerate(texts))
    problems: list[Problem] = compile_program({MAIN: f"{modules}\nfn main() {{}}\n"}, folder, to_run=False)[1]
    found = [problem for problem in problems if problem.severity == "error"]
    return [(problem.code, re.sub(r"\bm[0-9]+::", "", problem.message)) for problem in found]

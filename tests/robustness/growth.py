"""How the work of compiling grows with each shape: `python -m tests.robustness.growth [NAME …]`."""

from __future__ import annotations

import argparse
import sys
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from concerto.diagnostics import Problem
from concerto.vm import python_tier
from tests.robustness.checking import compiled
from tests.robustness.shapes import MANIFEST, WORLD, Make, shapes

SIZE = 16


def main() -> None:
    """Print every shape with the power of its size that the work grows by, worst first."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--size", type=int, default=SIZE)
    given = arguments.parse_args()
    rows: list[tuple[float, str, str]] = []
    with TemporaryDirectory() as folder:
        for name, make in shapes():
            if not given.names or any(part in name for part in given.names):
                work = growth(make, given.size, Path(folder))
                _, problems = compiled(program(make, 4), Path(folder))
                rows.append((power(work), name, f"{work} {summary(problems)}"))
    for exponent, name, text in sorted(rows, reverse=True):
        print(f"{exponent:6.2f}  {name:40} {text}")


def program(make: Make, size: int) -> str:
    return WORLD + make(size) + "\nfn main() {}\n"


def growth(make: Make, size: int, folder: Path) -> list[int]:
    """The work for that size, twice and four times as much."""
    (folder / "Concerto.toml").write_text(MANIFEST)
    work_of(program(make, 2), folder)
    return [work_of(program(make, size * times), folder) for times in (1, 2, 4)]


def power(work: list[int]) -> float:
    """The power that the work grows by; what every program takes does not count."""
    few, more, many = work
    return log2(max(1, many - more) / max(1, more - few))


def work_of(text: str, folder: Path) -> int:
    """The number of lines that compiling executes: the same in every run, whatever else the machine does."""
    lines = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal lines
        lines += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        module, _ = compiled(text, folder)
        if module is not None:
            python_tier.compile_module(module)
    finally:
        sys.settrace(before)
    return lines


def summary(problems: list[Problem]) -> str:
    """What a shape is told, to see that it is what it is meant to be."""
    kinds = {problem.code: problem.message for problem in problems}
    return "; ".join(f"{code} {message[:50]}" for code, message in kinds.items())


if __name__ == "__main__":
    main()

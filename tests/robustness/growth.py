"""How the work of compiling grows with each shape: `python -m tests.robustness.growth [NAME …]`.

Each row is a shape at three sizes, and each of its columns a step of the pipeline: the power of the size that
its work grows by.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Generator
from math import log2
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, TypeAlias

from concerto.compiler.disk import open_project
from concerto.compiler.packing import pack_module, unpack_module
from concerto.compiler.pipeline import read_source
from concerto.compiler.units import compile_changed, pack_units, unpack_units
from concerto.diagnostics import Problem, Problems
from concerto.ir.codec import decode, encode
from concerto.ir.verifier import verify
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse
from concerto.vm import python_tier
from tests.robustness.checking import compiled
from tests.robustness.shapes import MANIFEST, WORLD, Make, shapes

SIZE = 16
LIMIT = 20_000_000
"""Of one step: where the work doubles with every size there is no end to wait for."""
FEW = 100
"""Differences of so few lines tell nothing."""

Work: TypeAlias = "dict[str, list[int]]"
"""Of each step: the lines that it executes for each of the sizes."""


class TooMuch(BaseException):
    """More work than the limit; no `except Exception` may hold it up."""


def main() -> None:
    """Print a row for each shape."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--size", type=int, default=SIZE)
    given = arguments.parse_args()
    with TemporaryDirectory() as folder:
        for name, make in shapes():
            if not given.names or any(part in name for part in given.names):
                work = growth(make, given.size, Path(folder))
                row = "  ".join(f"{step} {power(lines):4.2f}" for step, lines in work.items())
                worst = max(map(power, work.values()))
                print(f"{worst:5.2f}  {name:40} {row}  {summary(make, Path(folder))}", flush=True)


def program(make: Make, size: int) -> str:
    return WORLD + make(size) + "\nfn main() {}\n"


def growth(make: Make, size: int, folder: Path) -> Work:
    """The work for that size, twice and four times as much; the limit, where it is more."""
    (folder / "Concerto.toml").write_text(MANIFEST)
    steps_of(program(make, 2), folder)
    rows = [steps_of(program(make, size * times), folder) for times in (1, 2, 4)]
    return {step: [row.get(step, LIMIT) for row in rows] for step in rows[0]}


def power(work: list[int]) -> float:
    """The power that the work grows by; what every program takes does not count."""
    few, more, many = work
    return log2(max(1, many - more + FEW) / max(1, more - few + FEW))


def steps_of(text: str, folder: Path) -> dict[str, int]:
    """The number of lines that each step executes: the same in every run, whatever else the machine does.
    A step that takes too much is missing, and those that need its result."""
    work = {}
    with_limit = Counter()
    steps = _steps(text, folder)
    try:
        for name, step in steps:
            work[name] = with_limit.lines(step)
    except TooMuch:
        steps.close()
    return work


def _steps(text: str, folder: Path) -> Generator[tuple[str, Callable[[], object]], None, None]:
    """Every way that a program goes through the compiler, and what it takes to have the result again."""
    results: list[Any] = []
    keep = results.append
    source = Source("main.conc", text)
    yield "parse", lambda: keep(parse(source, Problems()))
    yield "format", lambda: format_module(results[0])
    yield "compile", lambda: keep(compiled(text, folder)[0])
    module = results[1]
    if module is None:
        return
    yield "python", lambda: python_tier.compile_module(module)
    yield "encode", lambda: keep(encode(module))
    yield "decode", lambda: keep(decode(results[2], "main.conc-ir", Problems()))
    yield "verify", lambda: verify(results[3], Problems())
    yield "pack", lambda: unpack_module(pack_module(module))
    (folder / "part.conc").write_text(f"{text}pub fn part(n: Int) {{}}\n")
    yield "changed", lambda: _twice(folder)


def _twice(folder: Path) -> None:
    """Compiles a program with the text as a module, then again after a change of the other file."""
    main, units = folder / "main.conc", None
    for value in (1, 2):
        main.write_text(f"use part::part; fn main() {{ part({value}); }}")
        problems = Problems()
        project = open_project(main, problems)
        done = compile_changed(
            read_source(main.read_bytes(), "main.conc", problems), project, problems, units
        )
        assert done.units is not None, [problem.message for problem in problems]
        units = unpack_units(pack_units(done.units))


class Counter:
    """Counts lines up to the limit."""

    def lines(self, step: Callable[[], object]) -> int:
        lines = 0

        def count(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal lines
            lines += 1
            if lines > LIMIT:
                raise TooMuch
            return count

        before = sys.gettrace()
        threading.settrace(count)
        sys.settrace(count)
        try:
            step()
        finally:
            sys.settrace(before)
            threading.settrace(before)
        return lines


def summary(make: Make, folder: Path) -> str:
    """What a shape is told, to see that it is what it is meant to be."""
    problems: list[Problem] = compiled(program(make, 4), folder)[1]
    kinds = {problem.code: problem.message for problem in problems}
    return "; ".join(f"{code} {message[:50]}" for code, message in kinds.items())


if __name__ == "__main__":
    main()

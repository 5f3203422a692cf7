"""How the work of compiling grows with each shape: `python -m tests.robustness.growth [NAME …]`.

Each row is a shape; its columns are the steps of the pipeline, each with the power of the size that its work
grows by.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from math import inf, log2
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
from tests.robustness.shapes import MANIFEST, Make, program, shapes

SIZE = 12
STEPS = ("parse", "format", "compile", "python", "encode", "decode", "verify", "pack", "changed")
LIMIT = 20_000_000
"""Of lines of one step: where the work doubles with every size there is no end to wait for."""
NOISE = 100
"""Differences of so few lines tell nothing."""

Step: TypeAlias = "tuple[str, Callable[[], object]]"
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
                powers = {step: power(work) for step, work in growth(make, given.size, Path(folder)).items()}
                row = "  ".join(f"{step} {exponent:4.2f}" for step, exponent in powers.items())
                print(f"{max(powers.values()):5.2f}  {name:40} {row}  {said(make, Path(folder))}", flush=True)


def growth(make: Make, size: int, folder: Path, steps: Collection[str] = STEPS) -> Work:
    """The work for that size, twice and four times as much; the limit, where it is more."""
    (folder / "Concerto.toml").write_text(MANIFEST)
    for _, step in _steps(program(make, 2), folder):
        step()
    work: Work = {name: [] for name in STEPS if name in steps}
    for times in (1, 2, 4):
        counted = work_of(program(make, size * times), folder, work.keys() - {"format"})
        if "format" in work:
            # Short texts fit into fewer lines: that is no growth yet.
            counted |= work_of(program(make, size * times * 6), folder, {"format"})
        for name, lines in counted.items():
            work[name].append(lines)
        if LIMIT in counted.values():
            return {name: (lines + [LIMIT] * 2)[:3] for name, lines in work.items() if lines}
    return {name: lines for name, lines in work.items() if lines}


def power(work: list[int]) -> float:
    """The power that the work grows by; what every program takes does not count."""
    few, more, many = work
    return inf if many >= LIMIT else log2((max(0, many - more) + NOISE) / (max(0, more - few) + NOISE))


def work_of(text: str, folder: Path, steps: Collection[str]) -> dict[str, int]:
    """The number of lines that the steps execute: the same in every run, whatever else the machine does.
    Behind one that takes too much there are no others."""
    work: dict[str, int] = {}
    for name, step in _steps(text, folder):
        if name in steps:
            work[name] = _lines_of(step)
        elif work.keys() >= set(steps):
            break
        else:
            step()
        if LIMIT in work.values():
            break
    return work


def _lines_of(step: Callable[[], object]) -> int:
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
    except TooMuch:
        lines = LIMIT
    finally:
        sys.settrace(before)
        threading.settrace(before)
    return lines


def _steps(text: str, folder: Path) -> Iterator[Step]:
    """Every way that a program goes through the compiler, and what it takes to have the result again."""
    results: list[Any] = []
    keep = results.append
    yield "parse", lambda: keep(parse(Source("main.conc", text), Problems()))
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
        source = read_source(main.read_bytes(), "main.conc", problems)
        done = compile_changed(source, open_project(main, problems), problems, units)
        assert done.units is not None, [problem.message for problem in problems]
        units = unpack_units(pack_units(done.units))


def said(make: Make, folder: Path) -> str:
    """What a shape is told, to see that it is what it is meant to be."""
    problems: list[Problem] = compiled(program(make, 4), folder)[1]
    kinds = {problem.code: problem.message for problem in problems}
    return "; ".join(f"{code} {message[:50]}" for code, message in kinds.items())


if __name__ == "__main__":
    main()

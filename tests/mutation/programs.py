"""The programs that may notice a change: those of `tests/programs` and random ones, each with the lines of
the compiler that it reaches.

The compiler is imported inside functions: whoever changes it forks a process and changes it there first."""

from __future__ import annotations

import gc
import hashlib
import itertools
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from tests.mutation.changes import Change
from tests.mutation.forking import in_a_process
from tests.mutation.importing import ROOT, install_marks, reached_lines

_PROGRAMS = ROOT / "tests" / "programs"
_EMPTY = "fn main() { }\n"
_RANDOM = 25
"""So many random programs are tried on one change."""
_ANY = 60
"""So many programs are tried on a line that all of them reach."""
_SLOW = 1.0
"""Programs that take so many seconds are about depth and size, not about what single lines do."""
_PATIENCE = 600.0
"""Seconds for a run: what hangs is ended by its use of the processor, however many others use it."""


@dataclass(frozen=True)
class Program:
    """A file of `tests/programs`, by its path and digest, or a random program: `files`, status and output."""

    name: str
    files: dict[str, str] | None = None
    does: tuple[int, str, str] | None = None


@dataclass(frozen=True)
class Known:
    """A program with the seconds it takes and the lines it reaches: 1 reached by itself, 2 by any program.
    The files of both are named with their digest."""

    program: Program
    seconds: float
    reached: dict[str, bytes]

    def reaches(self, change: Change) -> int:
        lines = self.reached.get(digested(change.path))
        if lines is None:
            return 2
        if change.reached is None:
            return 1 if 1 in lines else 2
        return lines[change.reached]

    def share(self, change: Change) -> int:
        """How little of the changed file the program reaches by itself."""
        return -self.reached.get(digested(change.path), b"").count(1)


@cache
def digested(path: str) -> str:
    """The file's path and what is in it."""
    return f"{path} {hashlib.sha256((ROOT / path).read_bytes()).hexdigest()[:16]}"


def that_reach(change: Change, known: Sequence[Known]) -> list[Known]:
    """In the order in which they are asked: test programs that come there by themselves, the quickest first,
    some of those that any program is like, and a few random ones."""
    quick = sorted((each for each in known if each.seconds < _SLOW), key=lambda each: each.seconds)
    tests = [each for each in quick if each.program.files is None]
    random = [each for each in quick if each.program.files is not None]
    return [
        *(each for each in tests if each.reaches(change) == 1),
        *sorted((each for each in tests if each.reaches(change) == 2), key=lambda each: each.share(change))[
            :_ANY
        ],
        *[each for each in random if each.reaches(change)][:_RANDOM],
    ]


def fault(program: Program) -> str | None:
    """What the program does that it should not, in a line."""
    try:
        if program.files is None:
            _try_test(program.name)
            return None
        return _difference(program)
    except Exception as error:
        return f"{program.name.split()[0]}: {type(error).__name__}: {_said(error)}"


def _said(error: Exception) -> str:
    try:
        return " ".join(str(error).split())[:200]
    except Exception:
        return "and no text"


def be_patient() -> None:
    from tests.harness import running as tests
    from tests.properties import running as random

    vars(tests)["_SECONDS"] = vars(random)["_SECONDS"] = _PATIENCE


def _try_test(name: str) -> None:
    from tests.harness.expectations import read_expectations
    from tests.harness.programs import TIERS, Unexpected, compare_outcome, compare_problems
    from tests.harness.running import compile_program, run_program

    expected = read_expectations((ROOT / name.split()[0]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        module, problems = compile_program(expected.files, Path(folder), to_run=expected.wants_main)
        compare_problems(expected, problems)
    if expected.wants_main and not expected.errors:
        if module is None:
            raise Unexpected("does not compile")
        for tier in TIERS:
            with tempfile.TemporaryDirectory() as folder:
                # The files of a program may be what it reads.
                compile_program(expected.files, Path(folder), to_run=True)
                compare_outcome(expected, run_program(module, expected, Path(folder), tier))


def _difference(program: Program) -> str | None:
    from concerto.compiler.depth import on_large_stack
    from concerto.emit import emit_program
    from tests.harness.programs import TIERS
    from tests.properties.running import analyzed, run

    files = program.files
    assert files is not None
    module = on_large_stack(lambda: emit_program(analyzed(files)))
    for tier in TIERS:
        outcome = run(module, tier)
        if (outcome.status, outcome.stdout, outcome.stderr) != program.does:
            return f"{program.name} differs on {tier}"
    return None


def warm_up() -> None:
    """Imports the compiler and has it run the least program, in this process."""
    be_patient()
    _difference(Program("", {"main.conc": _EMPTY}, (0, "", "")))


def gather(paths: Sequence[str], count: int, kept: Sequence[Known], folder: Path) -> list[Known]:
    """All programs, `count` random ones among them, run on the compiler as it is, but for those in `kept`
    that reach nothing that was edited. One that fails is left out. Starts processes, imports nothing."""
    answer = folder / "answer"
    tests = {digested(str(path.relative_to(ROOT))) for path in _PROGRAMS.rglob("*.conc")}
    random = [entry.program for entry in kept if entry.program.files is not None]
    random = random or in_a_process(lambda: list(_random_programs(count)), answer) or []
    unedited = {digested(path) for path in paths}
    known = [entry for entry in kept if entry.reached.keys() <= unedited]
    known = [entry for entry in known if entry.program.files is not None or entry.program.name in tests]
    again = {entry.program.name for entry in known}
    programs = [Program(name) for name in sorted(tests - again)]
    programs += [program for program in random if program.name not in again]
    return known + (in_a_process(lambda: _all_known(programs, paths, answer), folder / "known") or [])


def _all_known(programs: Sequence[Program], paths: Sequence[str], answer: Path) -> list[Known]:
    """What an earlier program left in memory is not reached a second time, so each has a process."""
    install_marks(paths)
    warm_up()
    always = {path: bytes(lines) for path, lines in reached_lines(paths).items()}
    found = []
    gc.freeze()
    for program in programs:
        known = in_a_process(lambda program=program: _known(program, paths, always), answer)  # type: ignore[misc]
        if isinstance(known, Known):
            found.append(known)
        else:
            print(f"left out, it fails: {program.name}: {known}", flush=True)
    return found


def _known(program: Program, paths: Sequence[str], always: dict[str, bytes]) -> Known | str:
    for lines in reached_lines(paths).values():
        lines[:] = bytes(len(lines))
    start = time.process_time()
    wrong = fault(program)
    seconds = time.process_time() - start
    if wrong is not None:
        return wrong
    reached = {
        digested(path): _merged(own, always.get(path, b"")) for path, own in reached_lines(paths).items()
    }
    return Known(program, seconds, reached)


def _merged(own: bytearray, always: bytes) -> bytes:
    return bytes(
        2 if position < len(always) and always[position] else mark for position, mark in enumerate(own)
    )


def _random_programs(count: int) -> Iterator[Program]:
    """On which the oracle and both tiers agree."""
    from concerto.compiler.depth import on_large_stack
    from tests.properties.generating import make_program
    from tests.properties.running import Refused, agree, outcomes

    found = 0
    for seed in itertools.count():
        files = make_program(Random(f"mutation:{seed}"))
        try:
            ways = on_large_stack(lambda files=files: outcomes(files))  # type: ignore[misc]
        except Refused:
            continue
        if agree(ways):
            found += 1
            outcome = ways["python"]
            yield Program(f"random {seed}", dict(files), (outcome.status, outcome.stdout, outcome.stderr))
        if found == count:
            return

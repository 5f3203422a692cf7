"""A third opinion on what programs do: an evaluator of typed trees, written from the language reference.

It takes the front end's tree, types and names, and shares nothing else with what it judges: values, calls and
library are its own. What it does not know it says: `Unsupported`.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from concerto.compiler.depth import on_large_stack
from concerto.semantics.model.analysis import Analysis
from tests.harness.checking import analyze
from tests.oracle import expressions  # noqa: F401 – registers what it evaluates
from tests.oracle.calls import own_method
from tests.oracle.run import Run
from tests.oracle.values import Data, Failure, Panicked, Unsupported, text_of

__all__ = ["Unsupported", "evaluate"]

PROGRAMS: Final = Path(__file__).parents[1] / "programs"
LEFT_OUT: Final[dict[str, str]] = tomllib.loads(Path(__file__).with_name("left_out.toml").read_text("utf-8"))
"""The programs of `tests/programs` that the oracle does not take, each with what it needs."""


class Outcome(NamedTuple):
    status: int
    stdout: str
    stderr: str  # The line of the message alone.


def evaluate(
    files: Mapping[str, str], arguments: Sequence[str] = (), environment: Mapping[str, str] = {}
) -> Outcome:
    """What the program does, `main.conc` first. Raises ValueError for one that does not compile."""

    def work() -> Outcome:
        # Whoever provides the large stack puts the limit back.
        sys.setrecursionlimit(2_000_000)
        return evaluate_analysis(analyze(files), arguments, environment)

    return on_large_stack(work)


def evaluate_analysis(
    analysis: Analysis, arguments: Sequence[str] = (), environment: Mapping[str, str] = {}
) -> Outcome:
    """As `evaluate`, of a program that was checked; the caller provides room for deep recursion."""
    assert analysis.entry is not None, "the program has no `main`"
    run = Run(analysis, environment)
    Data.own = partial(own_method, run)
    error = ""
    try:
        result = run.invoke((analysis.entry, {}), [list(arguments)][: len(analysis.entry.parameters)])
        if isinstance(result, Data) and result.kind == "Err":
            error = f"error: {text_of(result.parts[0])}\n"
    except Failure as failure:
        error = f"error: {failure}\n"
    except Panicked as panic:
        run.output.append(f"[emit:panic] {panic}\n")
        error = f"error: panic: {panic}\n"
    return Outcome(int(error != ""), "".join(run.output), error)

"""A third opinion on what programs do: an evaluator of typed trees, written from the language reference.

It takes the front end's tree, types and names, and shares nothing with what turns them into code and runs
that: it has its own values, arithmetic, calls by trait, library and text of values. It is plain before it is
fast.
What it does not know it says: `Unsupported`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from concerto.semantics.model.analysis import Analysis
from tests.harness.checking import analyze
from tests.oracle import flow, values  # noqa: F401 – registers what it evaluates
from tests.oracle.dynamic import own_method
from tests.oracle.run import Run
from tests.oracle.text import text_of
from tests.oracle.values import Err, Failure, Panicked, Unsupported

__all__ = ["Outcome", "Unsupported", "evaluate"]


_STACK = 1024 * 1024 * 1024
_FRAMES = 2_000_000


@dataclass(frozen=True)
class Outcome:
    """As that of `tests.harness.running`, but `stderr` is the line of the message alone."""

    status: int
    stdout: str
    stderr: str


def evaluate(
    files: Mapping[str, str],
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Outcome:
    """What the program does, `main.conc` first; on the error stream stands the message alone.

    Raises Unsupported with a reason, ValueError for a program that does not compile.
    """
    return _with_room(lambda: evaluate_analysis(analyze(files), arguments, environment))


def evaluate_analysis(
    analysis: Analysis, arguments: Sequence[str] = (), environment: Mapping[str, str] = MappingProxyType({})
) -> Outcome:
    """As `evaluate`, of a program that was checked; the caller provides room for deep recursion."""
    if analysis.entry is None:
        raise ValueError("the program has no `main`")
    run = Run(analysis, environment)
    values.Own.method = partial(own_method, run)
    status, message = 0, ""
    try:
        given = [tuple(arguments)] if analysis.entry.parameters else []
        result = run.invoke(analysis.entry, given, {})
        if isinstance(result, Err):
            status, message = 1, text_of(result.value)
    except Failure as failure:
        status, message = 1, failure.error.fields["message"]
    except Panicked as panic:
        run.output.append(f"[emit:panic] {panic.message}\n")
        status, message = 1, f"panic: {panic.message}"
    return Outcome(status, "".join(run.output), f"error: {message}\n" if status else "")


def _with_room(work: Callable[[], Outcome]) -> Outcome:
    """The result of `work`, on a stack of its own that bears deep recursion."""
    results: list[Outcome | BaseException] = []

    def body() -> None:
        try:
            results.append(work())
        except BaseException as error:
            results.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(_FRAMES)
    try:
        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]

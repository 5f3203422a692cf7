"""`await`, `race`, `parallel for` and `spawn` of work that waits for nothing outside: branches run one after
the other, a task when its maker waits for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.flow import elements
from tests.oracle.patterns import matches
from tests.oracle.run import Frame, Run, evaluates


@evaluates(ast.Spawn)
def spawn(run: Run, node: ast.Spawn, frame: Frame) -> v.Value:
    run.switches += 1
    own = Frame(frame.types, dict(frame.locals))
    task = v.Task(lambda: run.body(node.operand, own))
    run.pending.append(task)
    frame.tasks.append(task)
    return task


def result_of(run: Run, value: v.Value) -> v.Value:
    """What waiting for a value gives: a task's result; anything else is ready."""
    if not isinstance(value, v.Task):
        return value
    run.switches += 1
    run.end_pending()
    if value.state == "cancelled":
        raise v.Failure("the task was cancelled", "Cancelled")
    if value.state != "done":
        raise v.Unsupported("a task that waits for itself")
    return value.result


@evaluates(ast.Await)
def wait(run: Run, node: ast.Await, frame: Frame) -> v.Value:
    return result_of(run, run.value(node.operand, frame))


@evaluates(ast.AwaitAll)
def wait_for_all(run: Run, node: ast.AwaitAll, frame: Frame) -> v.Value:
    return v.Tuple(tuple(_branches(run, node.items, lambda item: result_of(run, run.value(item, frame)))))


@evaluates(ast.Race)
def race(run: Run, node: ast.Race, frame: Frame) -> v.Value:
    """Nothing waits, so all are through when the first is looked at."""
    return _branches(run, node.items, lambda item: result_of(run, run.value(item, frame)))[0]


@evaluates(ast.ParallelFor)
def parallel_for(run: Run, node: ast.ParallelFor, frame: Frame) -> v.Value:
    items = elements(run.value(node.iterable, frame))
    limit = 1 if node.limit is None else run.value(node.limit, frame)
    if limit < 1:
        raise v.Failure(f"the limit of `parallel for` is at least 1, not {limit}", "ValueError")

    def branch(item: v.Value) -> v.Value:
        matches(run, node.pattern, item, frame)
        return run.value(node.body, frame)

    return tuple(_branches(run, list(items), branch))


def _branches(run: Run, items: Sequence[Any], branch: Callable[[Any], v.Value]) -> list[v.Value]:
    """What branches give, one after the other. Those that wait take turns, so what they print, and what
    those beside one that fails have done, may come in another order."""
    run.end_pending()
    run.switches += 1
    before, printed, failed = run.switches, len(run.output), True
    try:
        found = [branch(item) for item in items]
        failed = False
    finally:
        if run.switches > before and len(items) > 1 and (failed or len(run.output) > printed):
            raise v.Unsupported("branches that take turns")
    return found

"""Blocks, branches, loops, errors on their way, work beside other work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from concerto.semantics.model import builtins as bt
from concerto.semantics.typing.unify import substitute
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.access import matches
from tests.oracle.expressions import boolean
from tests.oracle.fitting import is_of
from tests.oracle.library.iterators import through
from tests.oracle.run import Frame, evaluates


@evaluates(ast.Block)
def block(f: Frame, node: ast.Block) -> v.Value:
    for statement in node.statements:
        match statement:
            case ast.ExprStmt():
                f.value(statement.expr)
            case ast.Let() if statement.value is not None:
                if not matches(f, statement.pattern, f.value(statement.value)) and statement.otherwise:
                    f.value(statement.otherwise)
            case ast.Mock():
                raise v.Unsupported("mock")
    if node.result is not None:
        return f.value(node.result)
    return v.Map() if not node.statements and bt.map_parts(f.type_of(node)) else None


@evaluates(ast.If, ast.LetCondition, ast.Match)
def choose(f: Frame, node: ast.If | ast.LetCondition | ast.Match) -> v.Value:
    match node:
        case ast.LetCondition():
            return matches(f, node.pattern, f.value(node.value))
        case ast.If():
            taken = node.then if _holds(f, node) else node.otherwise
            value = None if taken is None else f.value(taken)
            return None if node.otherwise is None else value
        case ast.Match():
            subject = f.value(node.subject)
            for arm in node.arms:
                if matches(f, arm.pattern, subject) and (arm.guard is None or boolean(f.value(arm.guard))):
                    return f.value(arm.body)
            raise AssertionError("a match that is not exhaustive")


def _holds(f: Frame, node: ast.If | ast.While) -> bool:
    value = f.value(node.condition)
    return boolean(value) if node.pattern is None else matches(f, node.pattern, value)


@evaluates(ast.While, ast.Loop, ast.For)
def loop(f: Frame, node: ast.While | ast.Loop | ast.For) -> v.Value:
    rounds: Iterator[bool]
    match node:
        case ast.While():
            rounds = iter(lambda: _holds(f, node), False)
        case ast.Loop():
            rounds = repeat(True)
        case ast.For():
            rounds = (matches(f, node.pattern, item) for item in elements(f.value(node.iterable)))
    while True:
        try:
            if not next(rounds, False):
                return None
            f.value(node.body)
        except v.Leave as left:
            if left.loop is not node:
                raise
            if left.how == "break":
                return left.value


def elements(value: v.Value) -> Iterable[v.Value]:
    """What `for` goes through."""
    items = through(value)
    v.demand(items is not None, f"`for` cannot go through {v.type_name(value)}", "TypeError")
    return items or ()


@evaluates(ast.Break, ast.Continue, ast.Return, ast.Throw)
def leave(f: Frame, node: ast.Break | ast.Continue | ast.Return | ast.Throw) -> v.Value:
    value = None if isinstance(node, ast.Continue) or node.value is None else f.value(node.value)
    raise v.Leave(type(node).__name__.lower(), value, f.analysis.jumps.get(node))


@evaluates(ast.Try)
def question_mark(f: Frame, node: ast.Try) -> v.Value:
    match value := f.value(node.operand):
        case v.Data("Ok" | "Some", (held,)):
            return held
        case v.Data("None"):
            raise v.Leave("return", value)
        case v.Data("Err", (error,)):
            # The function's own errors may be of another type.
            conversion = f.analysis.propagations.get(node)
            if conversion is not None and conversion.target is not None:
                found = bt.result_parts(f.type_of(node.operand))
                assert found is not None
                error = f.error_as(error, found[1], substitute(conversion.target, f.types))
            raise v.Leave("throw", error)
        case _:
            raise v.Failure(f"`?` asks for a Result or an Option, found {v.type_name(value)}", "TypeError")


@evaluates(ast.TryCatch)
def try_catch(f: Frame, node: ast.TryCatch) -> v.Value:
    try:
        return f.value(node.body)
    except (v.Leave, v.Failure) as left:
        for catch in node.catches if isinstance(left, v.Failure) or left.how == "throw" else ():
            wanted = f.analysis.catches[catch]
            if wanted is None or is_of(left.value, substitute(wanted, f.types)):
                if catch.pattern is not None:
                    matches(f, catch.pattern, left.value)
                break
        else:
            raise
    return f.value(catch.body)


# --- Work beside other work ---


@evaluates(ast.Spawn)
def spawn(f: Frame, node: ast.Spawn) -> v.Value:
    f.run.switches += 1
    own = Frame(f.run, f.types, f.locals)
    task = v.Task(lambda: own.body(node.operand))
    f.run.pending.append(task)
    f.tasks.append(task)
    return task


@evaluates(ast.Await, ast.AwaitAll, ast.Race)
def wait(f: Frame, node: ast.Await | ast.AwaitAll | ast.Race) -> v.Value:
    """Nothing waits, so all are through when the first is looked at."""
    if isinstance(node, ast.Await):
        return _result(f, f.value(node.operand))
    results = _branches(f, node.items, lambda item: _result(f, f.value(item)))
    return results[0] if isinstance(node, ast.Race) else v.tuple_of(results)


def _result(f: Frame, value: v.Value) -> v.Value:
    """A task's result; any other value is ready."""
    if not isinstance(value, v.Task):
        return value
    f.run.switches += 1
    f.run.end_pending()
    if not value.done:
        raise v.Unsupported("a task that waits for itself")
    return value.result


@evaluates(ast.ParallelFor)
def parallel_for(f: Frame, node: ast.ParallelFor) -> v.Value:
    items = elements(f.value(node.iterable))
    limit = 1 if node.limit is None else f.value(node.limit)
    v.demand(limit >= 1, f"the limit of `parallel for` is at least 1, not {limit}")
    # Each branch binds before it runs.
    return tuple(
        _branches(f, list(items), lambda item: matches(f, node.pattern, item) and f.value(node.body))
    )


def _branches(f: Frame, items: Sequence[Any], branch: Callable[[Any], v.Value]) -> list[v.Value]:
    """What branches give, one after the other. Those that wait take turns, so what they print, and what
    those beside one that fails have done, may come in another order."""
    run = f.run
    run.end_pending()
    run.switches += 1
    before, printed, found = run.switches, len(run.output), []
    try:
        for item in items:
            found.append(branch(item))
    finally:
        failed = len(found) < len(items)
        if run.switches > before and len(items) > 1 and (failed or len(run.output) > printed):
            raise v.Unsupported("branches that take turns")
    return found

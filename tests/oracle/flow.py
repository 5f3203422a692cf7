"""Blocks, branches, loops, errors on their way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from concerto.semantics.model.builtins import MAP, OPTION, RESULT
from concerto.semantics.model.symbols import Named
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.expressions import _boolean
from tests.oracle.fitting import is_of, substitute
from tests.oracle.library.iterators import through
from tests.oracle.patterns import matches
from tests.oracle.run import Frame, Run, evaluates


@evaluates(ast.Block)
def block(run: Run, node: ast.Block, frame: Frame) -> v.Value:
    for statement in node.statements:
        match statement:
            case ast.ExprStmt():
                run.value(statement.expr, frame)
            case ast.Let():
                if statement.value is not None:
                    matched = matches(run, statement.pattern, run.value(statement.value, frame), frame)
                    if not matched and statement.otherwise is not None:
                        run.value(statement.otherwise, frame)
            case ast.Mock():
                raise v.Unsupported("mock")
            case _:
                pass
    if node.result is not None:
        return run.value(node.result, frame)
    if not node.statements:
        found = run.analysis.types.get(node)
        if isinstance(found, Named) and found.symbol is MAP:
            return v.Map({})
    return None


@evaluates(ast.If)
def if_else(run: Run, node: ast.If, frame: Frame) -> v.Value:
    if _holds(run, node.pattern, node.condition, frame):
        value = run.value(node.then, frame)
        return None if node.otherwise is None else value
    return None if node.otherwise is None else run.value(node.otherwise, frame)


def _holds(run: Run, pattern: ast.Pattern | None, condition: ast.Expr, frame: Frame) -> bool:
    value = run.value(condition, frame)
    if pattern is not None:
        return matches(run, pattern, value, frame)
    return _boolean(value, "")


@evaluates(ast.LetCondition)
def let_condition(run: Run, node: ast.LetCondition, frame: Frame) -> v.Value:
    return matches(run, node.pattern, run.value(node.value, frame), frame)


@evaluates(ast.Match)
def match(run: Run, node: ast.Match, frame: Frame) -> v.Value:
    subject = run.value(node.subject, frame)
    for arm in node.arms:
        if matches(run, arm.pattern, subject, frame) and (
            arm.guard is None or _boolean(run.value(arm.guard, frame), "")
        ):
            return run.value(arm.body, frame)
    raise AssertionError("a match that is not exhaustive")


def _go_round(run: Run, node: ast.While | ast.Loop | ast.For, frame: Frame) -> None:
    try:
        run.value(node.body, frame)
    except v.Continued as continued:
        if continued.loop is not node:
            raise


@evaluates(ast.While)
def while_loop(run: Run, node: ast.While, frame: Frame) -> v.Value:
    try:
        while _holds(run, node.pattern, node.condition, frame):
            _go_round(run, node, frame)
    except v.Broken as broken:
        if broken.loop is not node:
            raise
    return None


@evaluates(ast.Loop)
def loop(run: Run, node: ast.Loop, frame: Frame) -> v.Value:
    try:
        while True:
            _go_round(run, node, frame)
    except v.Broken as broken:
        if broken.loop is not node:
            raise
        return broken.value


@evaluates(ast.For)
def for_loop(run: Run, node: ast.For, frame: Frame) -> v.Value:
    items = elements(run.value(node.iterable, frame))
    try:
        for item in items:
            matches(run, node.pattern, item, frame)
            _go_round(run, node, frame)
    except v.Broken as broken:
        if broken.loop is not node:
            raise
    return None


def elements(value: v.Value) -> Iterable[v.Value]:
    """What `for` goes through."""
    items = through(value)
    if items is None:
        raise v.Failure(f"`for` cannot go through {v.type_name(value)}", "TypeError")
    return items


@evaluates(ast.Break)
def break_loop(run: Run, node: ast.Break, frame: Frame) -> v.Value:
    value = None if node.value is None else run.value(node.value, frame)
    target = run.analysis.jumps[node]
    assert target is not None
    raise v.Broken(target, value)


@evaluates(ast.Continue)
def continue_loop(run: Run, node: ast.Continue, frame: Frame) -> v.Value:
    target = run.analysis.jumps[node]
    assert target is not None
    raise v.Continued(target)


@evaluates(ast.Return)
def return_value(run: Run, node: ast.Return, frame: Frame) -> v.Value:
    raise v.Returned(None if node.value is None else run.value(node.value, frame))


@evaluates(ast.Throw)
def throw(run: Run, node: ast.Throw, frame: Frame) -> v.Value:
    raise v.Thrown(run.value(node.value, frame))


@evaluates(ast.Try)
def question_mark(run: Run, node: ast.Try, frame: Frame) -> v.Value:
    value = run.value(node.operand, frame)
    match value:
        case v.Ok() | v.Some():
            return value.value
        case v.Err():
            raise v.Thrown(_passed_on(run, node, value.value, frame))
        case _ if value is v.NONE:
            raise v.Returned(v.NONE)
        case _:
            raise v.Failure(f"`?` asks for a Result or an Option, found {v.type_name(value)}", "TypeError")


def _passed_on(run: Run, node: ast.Try, error: v.Value, frame: Frame) -> v.Value:
    """The error as the function's own, if that is of another type."""
    conversion = run.analysis.propagations.get(node)
    if conversion is None or conversion.target is None:
        return error
    source = run.type_of(node.operand, frame)
    assert isinstance(source, Named) and source.symbol in (RESULT, OPTION)
    return run.error_as(error, source.arguments[-1], substitute(conversion.target, frame.types))


@evaluates(ast.TryCatch)
def try_catch(run: Run, node: ast.TryCatch, frame: Frame) -> v.Value:
    try:
        return run.value(node.body, frame)
    except (v.Thrown, v.Failure) as left:
        error = left.error
        for catch in node.catches:
            wanted = run.analysis.catches[catch]
            if wanted is None or is_of(error, substitute(wanted, frame.types)):
                if catch.pattern is not None:
                    matches(run, catch.pattern, error, frame)
                break
        else:
            raise
    return run.value(catch.body, frame)


# --- Work beside other work ---


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

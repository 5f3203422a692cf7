"""`await`, `race`, `parallel for`, `spawn` and `listen`. Each branch is a body of its own that captures what
it uses."""

from __future__ import annotations

from collections.abc import Sequence

from concerto.diagnostics import MismatchedTypes, WrongArguments
from concerto.semantics.check.body_checker import BodyChecker, checks, useful_hint
from concerto.semantics.check.calls.functions import check_call
from concerto.semantics.check.expressions.control import element_type
from concerto.semantics.check.join import value_place
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.model.analysis import AgentCall
from concerto.semantics.model.builtins import (
    ANY,
    INT,
    array_item,
    array_of,
    task_item,
    task_of,
)
from concerto.semantics.model.symbols import ERROR, AgentSymbol, FunctionOf, TupleOf, Type, Unsolved
from concerto.semantics.typing.coercion import fit, join
from concerto.semantics.typing.unify import fresh, is_erroneous, item_of, resolve, show, show_both
from concerto.syntax import ast


@checks(ast.Await)
def wait(checker: BodyChecker, node: ast.Await, hint: Type | None) -> Type:
    operand = node.operand
    if isinstance(operand, ast.Call):
        found = check_call(checker, operand, operand.callee, operand.arguments, hint, awaited=True)
        checker.types[operand] = found
        return awaited_type(found)
    # What is wanted of the branches of an operand may be the value itself or a task of it.
    branching = isinstance(operand, ast.Block | ast.If | ast.Match | ast.TryCatch | ast.Loop)
    return awaited_type(checker.infer(operand, None if branching else hint))


def awaited_type(found: Type) -> Type:
    """What waiting for a value gives: a task's result; anything else is ready."""
    return task_item(resolve(found)) or found


@checks(ast.AwaitAll)
def wait_for_all(checker: BodyChecker, node: ast.AwaitAll, hint: Type | None) -> Type:
    """Values of branches become what is expected of them; what a task gives stays as it is."""
    expected = useful_hint(hint)
    wanted: Sequence[Type | None] = [None] * len(node.items)
    if isinstance(expected, TupleOf) and len(expected.items) == len(node.items):
        wanted = expected.items
    types: list[Type] = []
    for item, asked in zip(node.items, wanted, strict=True):
        found = _branch(checker, item)
        if asked is not None and task_item(resolve(found)) is None:
            types.append(asked if checker.coerce(item, found, asked) else ERROR)
        else:
            types.append(item_of(awaited_type(found)))
    return TupleOf(tuple(types))


@checks(ast.Race)
def race(checker: BodyChecker, node: ast.Race, hint: Type | None) -> Type:
    if not node.items:
        help_ = "write what is to race: `race (first(), second())`"
        return checker.report(WrongArguments(checker.span(node), "a `race` of nothing", help=help_))
    common: Type = ERROR
    for position, item in enumerate(node.items):
        found = awaited_type(_branch(checker, item))
        joined = join(common, found) if position else found
        if joined is None:
            if not is_erroneous(found):
                checker.report(
                    MismatchedTypes(
                        checker.span(item),
                        "expected `{}`, found `{}`".format(*show_both(common, found)),
                        label="whichever of a `race` is first, its value has one type",
                    )
                )
            return ERROR
        common = joined
    for item in node.items:
        if checker.types[item] is not common and task_item(resolve(checker.types[item])) is None:
            checker.coerce(item, checker.types[item], common)
    return common


@checks(ast.Spawn)
def spawn(checker: BodyChecker, node: ast.Spawn, hint: Type | None) -> Type:
    """A task is like a closure: `?` and `throw` inside make its value a Result."""
    result = fresh()
    checker.enter_frame(node.operand, "task", result)
    mark = checker.enter_scope()
    found = checker.infer(node.operand)
    checker.leave_scope(mark)
    checker.leave_frame()
    left = resolve(result)
    if isinstance(left, Unsolved):
        return task_of(found)
    if fit(found, left) is None and not is_erroneous(found):
        checker.report(
            MismatchedTypes(
                checker.span(value_place(node.operand)),
                f"`?` and `throw` make the value of this task a `{show(left)}`, found `{show(found)}`",
                help="end with `Ok(…)`, or `spawn` the call without `?` and write `task.await?`",
            )
        )
        return task_of(left)
    checker.coerce(node.operand, found, left)
    return task_of(left)


def _branch(checker: BodyChecker, item: ast.Expr) -> Type:
    checker.enter_frame(item, "branch", fresh())
    mark = checker.enter_scope()
    found = checker.infer(item)
    checker.leave_scope(mark)
    checker.leave_frame()
    return found


@checks(ast.ParallelFor)
def parallel_for(checker: BodyChecker, node: ast.ParallelFor, hint: Type | None) -> Type:
    item = element_type(checker, node.iterable, checker.infer(node.iterable))
    if node.limit is not None:
        checker.check(node.limit, INT)
    checker.enter_frame(node, "branch", fresh())
    mark = checker.enter_scope()
    bind_pattern(checker, node.pattern, item, "pattern")
    wanted = array_item(useful_hint(hint) or ERROR)
    found = checker.infer(node.body) if wanted is None else checker.check(node.body, wanted)
    checker.leave_scope(mark)
    checker.leave_frame()
    return array_of(item_of(found))


@checks(ast.Listen)
def listen(checker: BodyChecker, node: ast.Listen, hint: Type | None) -> Type:
    """The value is that of the call; a handler answers its message with whatever it gives."""
    found = checker.infer(node.call)
    # Which call it is may be settled at the end of the body.
    checker.later.append(lambda: _check_listened(checker, node.call, found))
    for arm in node.arms:
        count = len(arm.handler.parameters)
        if count > 1:
            checker.report(
                WrongArguments(
                    checker.span(arm.handler), f"a handler takes one message, not {count} parameters"
                )
            )
        # A parameter without a type takes any message.
        checker.infer(arm.handler, FunctionOf((ANY,) * count, fresh()))
    return found


def _check_listened(checker: BodyChecker, call: ast.Expr, found: Type) -> None:
    """Only hosts have something to say in the middle of an execution."""
    target = checker.analysis.calls.get(call)
    if isinstance(target, AgentCall) and target.method in (
        "execute",
        "execute_with_schema",
        "stream_with_schema",
    ):
        root = call
        while isinstance(root, ast.MethodCall):
            root = root.receiver
        symbol = checker.analysis.uses.get(root) if isinstance(root, ast.Path) else None
        if not isinstance(symbol, AgentSymbol):
            return
        message = f"`{symbol.name}` is no host: a model has no messages to listen to"
    elif is_erroneous(found):
        return
    else:
        message = "`listen` goes with a call of a host: `listen Host.execute(…) { … }`"
    checker.report(MismatchedTypes(checker.span(call), message))

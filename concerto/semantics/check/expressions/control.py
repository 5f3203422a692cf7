"""`if`, `match`, loops and the jumps out of them (E0305, E0307)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import ConditionNotBool, MismatchedTypes, Misplaced, MissingReturn
from concerto.semantics.check.blocks import report_missing_return
from concerto.semantics.check.body_checker import DISCARD, Body, Frame, FrameKind, LoopFrame, checks, wanted
from concerto.semantics.check.expressions.failures import pass_broken_stream_on
from concerto.semantics.check.expressions.operators import check_compared
from concerto.semantics.check.join import Branches
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.model.builtins import (
    ANY,
    ARRAY,
    BOOL,
    HASH_MAP,
    INT,
    ITERATOR,
    MAP,
    NEVER,
    NIL,
    QUEUE,
    RANGE,
    SET,
    STACK,
    STRING,
)
from concerto.semantics.model.types import ERROR, ErrorType, Named, TupleOf, Type, Unsolved
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import condition_help, quote
from concerto.semantics.typing.unify import resolve, show
from concerto.syntax import ast


@checks(ast.If)
def if_else(body: Body, node: ast.If, hint: Type | None) -> Type:
    mark = body.enter_scope()
    _check_head(body, node.pattern, node.condition)
    if node.otherwise is None:
        body.infer(node.then, DISCARD)
        body.leave_scope(mark)
        return NIL if hint is None or hint is NIL or hint is DISCARD else without_else(body, node, hint)
    branches = Branches(body, hint, "`if` and `else`")
    branches.add(node.then)
    body.leave_scope(mark)
    branches.add(node.otherwise)
    return branches.result()


def without_else(body: Body, node: ast.If, hint: Type) -> Type:
    """The type of an `if` without `else` where a value is wanted."""
    expected = wanted(hint)
    if expected is None or isinstance(expected, Unsolved) or expected in (ANY, NIL):
        return NIL
    block = body.frame.block
    if block is not None and block.result is node:
        return report_missing_return(body, block, expected, None)
    return body.report(
        MismatchedTypes(
            body.source.span(node.start, node.start + 2),
            f"expected `{show(expected)}`, but an `if` without `else` has no value",
            help="add `else { … }`",
        )
    )


def _check_head(body: Body, pattern: ast.Pattern | None, condition: ast.Expr) -> None:
    """`if c` and `while c`, or `if let p = e` and `while let p = e`."""
    if pattern is None and isinstance(condition, ast.Assign) and condition.op == "=":
        # The parser has said that `==` is meant.
        check_compared(body, condition)
    elif pattern is None:
        check_condition(body, condition)
    elif isinstance(condition, ast.Binary) and condition.op in ("&&", "||") and _takes_apart(pattern):
        _check_chain(body, pattern, condition)
    else:
        bind_pattern(body, pattern, body.infer(condition), "pattern")


def _takes_apart(pattern: ast.Pattern) -> bool:
    return not isinstance(pattern, ast.LiteralPattern | ast.BindPattern | ast.WildcardPattern)


def _check_chain(body: Body, pattern: ast.Pattern, condition: ast.Binary) -> None:
    """`if let Some(x) = e && x > 1`: one report, and all parts are checked as they are meant."""
    parts: list[ast.Expr] = []
    first: ast.Expr = condition
    while isinstance(first, ast.Binary) and first.op in ("&&", "||"):
        body.types[first] = ERROR
        parts.append(first.right)
        first = first.left
    bind_pattern(body, pattern, body.infer(first), "pattern")
    for part in reversed(parts):
        check_condition(body, part)
    shown = body.source.text[pattern.start : pattern.end]
    body.report(
        ConditionNotBool(
            body.source.span(condition.op_start, condition.op_start + len(condition.op)),
            f"a pattern behind `let` is not joined with `{condition.op}`",
            help=f"write an `if` inside, or a guard: `match … {{ {shown} if … => …, _ => … }}`",
        )
    )


def check_condition(body: Body, node: ast.Expr) -> None:
    found = body.infer(node, BOOL if isinstance(node, ast.Assign) else None)
    if found is BOOL:
        return
    plain = widened(found)
    if plain is BOOL or plain is NEVER or isinstance(plain, ErrorType):
        return
    if plain is ANY or isinstance(plain, Unsolved):
        body.coerce(node, plain, BOOL)
        return
    body.report(
        ConditionNotBool(
            body.span(node),
            f"a condition is a Bool, found `{show(found)}`",
            help=condition_help(body.source, node, plain),
        )
    )


@checks(ast.Match)
def match(body: Body, node: ast.Match, hint: Type | None) -> Type:
    subject = body.infer(node.subject)
    branches = Branches(body, hint, "the arms of a `match`")
    for arm in node.arms:
        mark = body.enter_scope()
        bind_pattern(body, arm.pattern, subject, "pattern")
        if arm.guard is not None:
            check_condition(body, arm.guard)
        branches.add(arm.body)
        body.leave_scope(mark)
    return branches.result()


# --- Loops ----------------------------------------------------------------------------------------


@checks(ast.While)
def while_loop(body: Body, node: ast.While, hint: Type | None) -> Type:
    mark = body.enter_scope()
    _check_head(body, node.pattern, node.condition)
    _check_loop_body(body, LoopFrame(node, None), node.body)
    body.leave_scope(mark)
    return NIL


@checks(ast.Loop)
def loop(body: Body, node: ast.Loop, hint: Type | None) -> Type:
    branches = Branches(body, hint, "the `break`s of a `loop`")
    frame = LoopFrame(node, branches)
    _check_loop_body(body, frame, node.body)
    return branches.result() if frame.broken else NEVER


@checks(ast.For)
def for_loop(body: Body, node: ast.For, hint: Type | None) -> Type:
    found = body.infer(node.iterable)
    item = element_type(body, node.iterable, found)
    if isinstance(known := widened(found), Named) and known.symbol is ITERATOR:
        pass_broken_stream_on(body, node)
    mark = body.enter_scope()
    bind_pattern(body, node.pattern, item, "pattern")
    _check_loop_body(body, LoopFrame(node, None), node.body)
    body.leave_scope(mark)
    return NIL


def _check_loop_body(body: Body, frame: LoopFrame, block: ast.Block) -> None:
    loops = body.frame.loops
    loops.append(frame)
    body.infer(block, DISCARD)
    loops.pop()


def element_type(body: Body, node: ast.Expr, found: Type) -> Type:
    """What a `for` meets in a value; what cannot be walked is reported."""
    found = widened(found)
    if found is RANGE:
        return INT
    if found is STRING or found is ANY:
        return found
    if found is NEVER:
        return NEVER
    if isinstance(found, ErrorType):
        return ERROR
    if isinstance(found, Named):
        if found.symbol in (ARRAY, SET, QUEUE, STACK, ITERATOR):
            return found.arguments[0]
        if found.symbol is MAP:
            return TupleOf(found.arguments)
    quoted = quote(body.source, node)
    help_ = ""
    if found is INT:
        help_ = f"walk a range: `0..{quoted}`"
    elif isinstance(found, Named) and found.symbol is HASH_MAP:
        help_ = f"walk its keys: `{quoted}.keys()`"
    elif isinstance(found, Named) and found.symbol.name in ("Option", "Result"):
        help_ = f"take the value out first: `{quoted}?`"
    return body.report(MismatchedTypes(body.span(node), f"cannot walk through `{show(found)}`", help=help_))


# --- Jumps ----------------------------------------------------------------------------------------


@checks(ast.Break)
def break_loop(body: Body, node: ast.Break, hint: Type | None) -> Type:
    frame = _find_loop(body, node, node.label, "break")
    body.analysis.jumps[node] = None if frame is None else frame.node
    branches = None if frame is None else frame.branches
    if frame is None:
        if node.value is not None:
            body.infer(node.value)
        _doubt_loops(body)
        return ERROR
    frame.broken = True
    if branches is not None and node.value is None:
        branches.add_nil(node)
    elif branches is not None and node.value is not None:
        branches.add(node.value)
    elif node.value is not None:
        body.infer(node.value)
        body.report(
            Misplaced(
                body.span(node.value),
                "only `loop` has a value that `break` can give",
                help="assign it to a variable declared before the loop",
            )
        )
    return NEVER


def _doubt_loops(body: Body) -> None:
    """A `break` with a wrong label was meant for one of the loops around, nobody knows which."""
    for frame in body.frame.loops:
        frame.broken = True
        if frame.branches is not None:
            frame.branches.broken = True


@checks(ast.Continue)
def continue_loop(body: Body, node: ast.Continue, hint: Type | None) -> Type:
    frame = _find_loop(body, node, node.label, "continue")
    body.analysis.jumps[node] = None if frame is None else frame.node
    return ERROR if frame is None else NEVER


def _find_loop(body: Body, node: ast.Expr, label: ast.Ident | None, word: str) -> LoopFrame | None:
    loops = body.frame.loops
    for frame in reversed(loops):
        if label is None or (frame.node.label is not None and frame.node.label.text == label.text):
            return frame
    help_ = ""
    if label is not None:
        message = f"no loop around this has the label `'{label.text}`"
    elif body.frame.kind in _PLACES and _any_loop_outside(body.frame):
        message = f"`{word}` cannot leave {_PLACES[body.frame.kind]}"
        help_ = _BRANCH_HELP if body.frame.kind in ("branch", "task") else ""
    else:
        message = f"`{word}` outside of a loop"
    body.report(Misplaced(body.span(label or node), message, help=help_))
    return None


_PLACES: Final[dict[FrameKind, str]] = {
    "closure": "a closure",
    "branch": "a concurrent branch",
    "task": "a task",
    "constant": "a default value",
}
_BRANCH_HELP: Final = "let it give a value, and look at that afterwards"


def _any_loop_outside(frame: Frame) -> bool:
    outer = frame.outer
    while outer is not None:
        if outer.loops:
            return True
        outer = outer.outer
    return False


@checks(ast.Return)
def return_value(body: Body, node: ast.Return, hint: Type | None) -> Type:
    frame = body.frame
    if frame.kind in ("branch", "task", "constant"):
        if node.value is not None:
            body.infer(node.value)
        help_ = "" if frame.kind == "constant" else _BRANCH_HELP
        body.report(Misplaced(body.span(node), f"`return` cannot leave {_PLACES[frame.kind]}", help=help_))
        return NEVER
    result = resolve(frame.result)
    if node.value is None:
        _return_nothing(body, node, result)
    elif result is NIL and frame.kind != "closure":
        _return_from_nothing(body, node.value)
    else:
        body.check(node.value, frame.result)
    return NEVER


def _return_nothing(body: Body, node: ast.Return, result: Type) -> None:
    if isinstance(result, Unsolved):
        body.coerce(node, NIL, result)
        return
    if result in (NIL, ANY) or isinstance(result, ErrorType):
        return
    help_ = "`return Ok(nil);`" if show(result).startswith("Result<Nil,") else "give a value: `return …;`"
    body.report(
        MissingReturn(
            body.span(node), f"`return` without a value where `{show(result)}` is promised", help=help_
        )
    )


def _return_from_nothing(body: Body, value: ast.Expr) -> None:
    found = resolve(body.infer(value))
    if found in (NIL, NEVER) or isinstance(found, ErrorType):
        return
    body.report(
        MismatchedTypes(
            body.span(value),
            f"this function returns nothing, found `{show(found)}`",
            help=f"promise a value in its signature: `-> {show(found)}`",
        )
    )

"""`if`, `match`, loops and the jumps out of them (E0305, E0307)."""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import ConditionNotBool, MismatchedTypes, Misplaced, MissingReturn
from concerto.semantics.check.blocks import report_missing_return
from concerto.semantics.check.body_checker import (
    DISCARD,
    BodyChecker,
    BodyFrame,
    FrameKind,
    LoopFrame,
    checks,
    useful_hint,
)
from concerto.semantics.check.expressions.error_handling import may_break_off, pass_broken_stream_on
from concerto.semantics.check.expressions.operators import check_compared, infer_bool, stands_for_bool
from concerto.semantics.check.join import Branches
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.check.unknown_members import report_unknown_type
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    HASH_MAP,
    INT,
    NEVER,
    NIL,
)
from concerto.semantics.model.symbols import ERROR, ErrorType, Generic, Named, Type, Unsolved
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import condition_help, quote
from concerto.semantics.typing.traits import element_of, is_own
from concerto.semantics.typing.unify import resolve, show
from concerto.syntax import ast


@checks(ast.If)
def if_else(checker: BodyChecker, node: ast.If, hint: Type | None) -> Type:
    mark = checker.enter_scope()
    _check_head(checker, node.pattern, node.condition)
    if node.otherwise is None:
        wanted = hint is not NIL and hint is not DISCARD
        found = checker.infer(node.then, None if wanted else DISCARD)
        checker.leave_scope(mark)
        return without_else(checker, node, found, hint) if wanted else NIL
    branches = Branches(checker, hint, "`if` and `else`")
    branches.add(node.then)
    checker.leave_scope(mark)
    branches.add(node.otherwise)
    return branches.result()


def without_else(checker: BodyChecker, node: ast.If, found: Type, hint: Type | None) -> Type:
    """The type of an `if` without `else` where a value is wanted. `found` is that of its block."""
    expected = useful_hint(hint)
    if expected is None or isinstance(expected, Unsolved) or expected in (ANY, NIL):
        found = resolve(found)
        if found in (NIL, NEVER) or isinstance(found, ErrorType | Unsolved):
            return NIL
        message = "an `if` without `else` has no value"
    else:
        block = checker.frame.block
        if block is not None and block.result is node:
            return report_missing_return(checker, block, expected, None)
        message = f"expected `{show(expected)}`, but an `if` without `else` has no value"
    return checker.report(
        MismatchedTypes(
            checker.source.span(node.start, node.start + 2),
            message,
            help="add `else { … }`",
        )
    )


def _check_head(checker: BodyChecker, pattern: ast.Pattern | None, condition: ast.Expr) -> None:
    """`if c` and `while c`, or `if let p = e` and `while let p = e`."""
    if pattern is None and isinstance(condition, ast.Assign) and condition.op == "=":
        # The parser has said that `==` is meant.
        check_compared(checker, condition)
    elif pattern is None:
        check_condition(checker, condition)
    else:
        _bind_condition(checker, pattern, condition)


@checks(ast.LetCondition)
def let_condition(checker: BodyChecker, node: ast.LetCondition, hint: Type | None) -> Type:
    _bind_condition(checker, node.pattern, node.value)
    return BOOL


def _bind_condition(checker: BodyChecker, pattern: ast.Pattern, value: ast.Expr) -> None:
    if isinstance(value, ast.Binary) and value.op == "||" and _destructures(pattern):
        _check_chain(checker, pattern, value)
    else:
        bind_pattern(checker, pattern, checker.infer(value), "pattern")


def _destructures(pattern: ast.Pattern) -> bool:
    """Whether it is no pattern of a Bool."""
    match pattern:
        case ast.OrPattern():
            return any(map(_destructures, pattern.alternatives))
        case ast.BindPattern() if pattern.pattern is not None:
            return _destructures(pattern.pattern)
        case _:
            return not isinstance(pattern, ast.LiteralPattern | ast.BindPattern | ast.WildcardPattern)


def _check_chain(checker: BodyChecker, pattern: ast.Pattern, condition: ast.Binary) -> None:
    """`if let Some(x) = e || x > 1`: one report, and all parts are checked as they are meant."""
    parts: list[ast.Expr] = []
    first: ast.Expr = condition
    while isinstance(first, ast.Binary) and first.op in ("&&", "||"):
        checker.types[first] = ERROR
        parts.append(first.right)
        first = first.left
    bind_pattern(checker, pattern, checker.infer(first), "pattern")
    for part in reversed(parts):
        check_condition(checker, part)
    shown = checker.source.text[pattern.start : pattern.end]
    checker.report(
        ConditionNotBool(
            checker.source.span(condition.op_start, condition.op_start + len(condition.op)),
            "a pattern behind `let` is not joined with `||`",
            help=f"write a guard: `match … {{ {shown} if … => …, _ => … }}`",
        )
    )


def check_condition(checker: BodyChecker, node: ast.Expr) -> None:
    found = infer_bool(checker, node)
    plain = widened(found)
    if stands_for_bool(checker, node, plain):
        return
    checker.report(
        ConditionNotBool(
            checker.span(node),
            f"a condition is a Bool, found `{show(found)}`",
            help=condition_help(checker.source, node, plain),
        )
    )


@checks(ast.Match)
def match(checker: BodyChecker, node: ast.Match, hint: Type | None) -> Type:
    subject = checker.infer(node.subject)
    branches = Branches(checker, hint, "the arms of a `match`")
    for arm in node.arms:
        mark = checker.enter_scope()
        bind_pattern(checker, arm.pattern, subject, "pattern")
        if arm.guard is not None:
            check_condition(checker, arm.guard)
        branches.add(arm.body)
        checker.leave_scope(mark)
    return branches.result()


# --- Loops ----------------------------------------------------------------------------------------


@checks(ast.While)
def while_loop(checker: BodyChecker, node: ast.While, hint: Type | None) -> Type:
    mark = checker.enter_scope()
    _check_head(checker, node.pattern, node.condition)
    _check_loop_body(checker, LoopFrame(node, None), node.body)
    checker.leave_scope(mark)
    return NIL


@checks(ast.Loop)
def loop(checker: BodyChecker, node: ast.Loop, hint: Type | None) -> Type:
    branches = Branches(checker, hint, "the `break`s of a `loop`")
    frame = LoopFrame(node, branches)
    _check_loop_body(checker, frame, node.body)
    return branches.result() if frame.broken else NEVER


@checks(ast.For)
def for_loop(checker: BodyChecker, node: ast.For, hint: Type | None) -> Type:
    found = checker.infer(node.iterable)
    item = element_type(checker, node.iterable, found)
    if may_break_off(checker, node.iterable):
        pass_broken_stream_on(checker, node)
    mark = checker.enter_scope()
    bind_pattern(checker, node.pattern, item, "pattern")
    _check_loop_body(checker, LoopFrame(node, None), node.body)
    checker.leave_scope(mark)
    return NIL


def _check_loop_body(checker: BodyChecker, frame: LoopFrame, block: ast.Block) -> None:
    loops = checker.frame.loops
    loops.append(frame)
    checker.infer(block, DISCARD)
    loops.pop()


def element_type(checker: BodyChecker, node: ast.Expr, found: Type) -> Type:
    """What a `for` meets in a value; what cannot be walked is reported."""
    found = widened(found)
    item = element_of(checker.declarations, found)
    if item is not None:
        return item
    if found is NEVER:
        return NEVER
    if isinstance(found, ErrorType):
        return ERROR
    if isinstance(found, Unsolved):
        return report_unknown_type(checker, node, "to walk through it")
    quoted = quote(checker.source, node)
    help_ = ""
    if found is INT:
        help_ = f"walk a range: `0..{quoted}`"
    elif isinstance(found, Named) and found.symbol is HASH_MAP:
        help_ = f"walk its keys: `{quoted}.keys()`"
    elif isinstance(found, Named) and found.symbol.name in ("Option", "Result"):
        help_ = f"take the value out first: `{quoted}?`"
    elif is_own(found):
        help_ = f"write `impl Iterator<T> for {show(found)} {{ fn next(mut self) -> Option<T> {{ … }} }}`"
    elif isinstance(found, Generic):
        help_ = f"ask for it: `{found.symbol.name}: Iterator<T>`"
    return checker.report(
        MismatchedTypes(checker.span(node), f"cannot walk through `{show(found)}`", help=help_)
    )


# --- Jumps ----------------------------------------------------------------------------------------


@checks(ast.Break)
def break_loop(checker: BodyChecker, node: ast.Break, hint: Type | None) -> Type:
    frame = _find_loop(checker, node, node.label, "break")
    checker.analysis.jumps[node] = None if frame is None else frame.node
    branches = None if frame is None else frame.branches
    if frame is None:
        if node.value is not None:
            checker.infer(node.value)
        _doubt_loops(checker)
        return ERROR
    frame.broken = True
    if branches is not None and node.value is None:
        branches.add_nil(node)
    elif branches is not None and node.value is not None:
        branches.add(node.value)
    elif node.value is not None:
        checker.infer(node.value)
        checker.report(
            Misplaced(
                checker.span(node.value),
                "only `loop` has a value that `break` can give",
                help="assign it to a variable declared before the loop",
            )
        )
    return NEVER


def _doubt_loops(checker: BodyChecker) -> None:
    """A `break` with a wrong label was meant for one of the loops around, nobody knows which."""
    for frame in checker.frame.loops:
        frame.broken = True
        if frame.branches is not None:
            frame.branches.broken = True


@checks(ast.Continue)
def continue_loop(checker: BodyChecker, node: ast.Continue, hint: Type | None) -> Type:
    frame = _find_loop(checker, node, node.label, "continue")
    checker.analysis.jumps[node] = None if frame is None else frame.node
    return ERROR if frame is None else NEVER


def _find_loop(checker: BodyChecker, node: ast.Expr, label: ast.Ident | None, word: str) -> LoopFrame | None:
    loops = checker.frame.loops
    for frame in reversed(loops):
        if label is None or (frame.node.label is not None and frame.node.label.text == label.text):
            return frame
    help_ = ""
    if label is not None:
        message = f"no loop around this has the label `'{label.text}`"
    elif checker.frame.kind in _PLACES and _any_loop_outside(checker.frame):
        message = f"`{word}` cannot leave {_PLACES[checker.frame.kind]}"
        help_ = _BRANCH_HELP if checker.frame.kind in ("branch", "task") else ""
    else:
        message = f"`{word}` outside of a loop"
    checker.report(Misplaced(checker.span(label or node), message, help=help_))
    return None


_PLACES: Final[dict[FrameKind, str]] = {
    "closure": "a closure",
    "branch": "a concurrent branch",
    "task": "a task",
    "constant": "a default value",
}
_BRANCH_HELP: Final = "let it give a value, and look at that afterwards"


def _any_loop_outside(frame: BodyFrame) -> bool:
    if isinstance(frame.node, ast.ParallelFor):
        return True
    outer = frame.outer
    while outer is not None:
        if outer.loops:
            return True
        outer = outer.outer
    return False


@checks(ast.Return)
def return_value(checker: BodyChecker, node: ast.Return, hint: Type | None) -> Type:
    frame = checker.frame
    if frame.kind in ("branch", "task", "constant"):
        if node.value is not None:
            checker.infer(node.value)
        help_ = "" if frame.kind == "constant" else _BRANCH_HELP
        checker.report(
            Misplaced(checker.span(node), f"`return` cannot leave {_PLACES[frame.kind]}", help=help_)
        )
        return NEVER
    result = resolve(frame.result)
    if node.value is None:
        _return_nothing(checker, node, result)
    elif result is NIL and frame.kind != "closure":
        _return_from_nothing(checker, node.value)
    else:
        checker.check(node.value, frame.result)
    return NEVER


def _return_nothing(checker: BodyChecker, node: ast.Return, result: Type) -> None:
    if isinstance(result, Unsolved):
        checker.coerce(node, NIL, result)
        return
    if result in (NIL, ANY) or isinstance(result, ErrorType):
        return
    help_ = "`return Ok(nil);`" if show(result).startswith("Result<Nil,") else "give a value: `return …;`"
    checker.report(
        MissingReturn(
            checker.span(node), f"`return` without a value where `{show(result)}` is promised", help=help_
        )
    )


def _return_from_nothing(checker: BodyChecker, value: ast.Expr) -> None:
    found = resolve(checker.infer(value))
    if found in (NIL, NEVER) or isinstance(found, ErrorType):
        return
    function = checker.frame.function
    declared = function.decl if function is not None else None
    if declared is not None and "fn" not in checker.source.text[declared.start : declared.name.start].split():
        return  # `def f(x):` was reported, and has no result type.
    is_main = function is not None and function.name == "main" and checker.frame.kind == "function"
    checker.report(
        MismatchedTypes(
            checker.span(value),
            f"this function returns nothing, found `{show(found)}`",
            help="print the value instead"
            if is_main
            else f"promise a value in its signature: `-> {show(found)}`",
        )
    )

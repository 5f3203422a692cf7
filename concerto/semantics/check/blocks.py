"""Blocks and the statements in them; E0308 and values lost to a `;`."""

from __future__ import annotations

from concerto.diagnostics import Edit, MismatchedTypes, MissingReturn
from concerto.semantics.check.body_checker import DISCARD, BodyChecker, checks, useful_hint
from concerto.semantics.check.calls.mocks import check_mock
from concerto.semantics.check.join import infer_result
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.declare.collect import declare_block
from concerto.semantics.model.builtins import NEVER, NIL, map_parts, result_parts
from concerto.semantics.model.symbols import ERROR, ErrorType, Type
from concerto.semantics.typing.coercion import fit
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import fresh, is_solved, resolve, show, zonk
from concerto.source import Span
from concerto.syntax import ast


@checks(ast.Block)
def block(checker: BodyChecker, node: ast.Block, hint: Type | None) -> Type:
    """A block's value is its result; without one it is nil, or none comes if a statement never ends."""
    mark = checker.enter_scope()
    outer = checker.scope
    items = [statement.item for statement in node.statements if isinstance(statement, ast.ItemStmt)]
    if items:
        checker.scope = declare_block(checker.declarations, items, outer)
        checker.declarations.here = checker.scope.module
    ends = True
    for statement in node.statements:
        if check_statement(checker, statement) is NEVER:
            ends = False
    found: Type = NIL if ends else NEVER
    if node.result is not None:
        if ends and isinstance(node.result, ast.While | ast.For) and _asks_for_more(hint):
            checker.infer(node.result, DISCARD)
            result = _without_value(checker, node, hint)
        else:
            result = infer_result(checker, node.result, hint)
        found = result if ends else NEVER
    elif (empty_map := _empty_map(checker, node, hint)) is not None:
        found = empty_map
    elif ends and hint is not None and hint is not NIL:
        found = _without_value(checker, node, hint)
    if items:
        checker.scope.module.variables = frozenset(checker.locals)
        checker.declarations.here = outer.module
    checker.scope = outer
    checker.leave_scope(mark)
    return found


def check_statement(checker: BodyChecker, statement: ast.Stmt) -> Type:
    """NEVER if control does not come past the statement, else NIL."""
    match statement:
        case ast.ExprStmt():
            return NEVER if resolve(checker.infer(statement.expr, DISCARD)) is NEVER else NIL
        case ast.Let():
            return let(checker, statement)
        case ast.Mock():
            check_mock(checker, statement)
            return NIL
        case ast.ItemStmt():
            return NIL


def let(checker: BodyChecker, node: ast.Let) -> Type:
    declared = None if node.type is None else resolve_type(checker.declarations, node.type, checker.scope)
    if node.value is None:
        checker.deferred.update(bind_pattern(checker, node.pattern, declared or fresh(), "let"))
        return NIL
    found = _infer_named(checker, node.pattern, node.value, declared)
    if declared is not None and found is not declared:
        checker.coerce(node.value, found, declared)
    # Variables that are solved by now are looked through once, and not by each use of what is bound.
    known = zonk(found) if is_solved(found) else found
    if node.otherwise is not None:
        _check_otherwise(checker, node.otherwise)
    bind_pattern(checker, node.pattern, declared or known, "let" if node.otherwise is None else "pattern")
    return NEVER if found is NEVER else NIL


def _infer_named(checker: BodyChecker, pattern: ast.Pattern, value: ast.Expr, declared: Type | None) -> Type:
    """The type of what a pattern takes apart. A closure does not know the name it gets."""
    if not (isinstance(value, ast.Closure) and isinstance(pattern, ast.BindPattern)):
        return checker.infer(value, declared)
    before = checker.naming
    checker.naming = before | {pattern.name.text}
    found = checker.infer(value, declared)
    checker.naming = before
    return found


def _check_otherwise(checker: BodyChecker, block: ast.Block) -> None:
    """The `else` of a `let` must leave: where it ends there is no value for what the pattern names."""
    found = resolve(checker.infer(block, DISCARD))
    if found is not NEVER and not isinstance(found, ErrorType):
        checker.report(
            MissingReturn(
                checker.span(block),
                "the `else` of a `let` must not come to its end",
                help="leave the function or the loop: `return`, `throw`, `break`, `continue` or `panic(…)`",
            )
        )


def _empty_map(checker: BodyChecker, node: ast.Block, hint: Type | None) -> Type | None:
    """The type of `{}` where a Map is asked for, other than as the body of a function."""
    if node.statements or (node is checker.frame.block and not isinstance(checker.frame.node, ast.Closure)):
        return None
    expected = useful_hint(hint)
    return expected if expected is not None and map_parts(expected) is not None else None


# --- Missing values -------------------------------------------------------------------------------


def _asks_for_more(hint: Type | None) -> bool:
    expected = useful_hint(hint)
    return expected is not None and fit(NIL, expected) is None


def _without_value(checker: BodyChecker, node: ast.Block, hint: Type | None) -> Type:
    """The type of a block that ends without a value: reported here if one is wanted, as the reason is
    here."""
    expected = useful_hint(hint)
    if expected is None or not _asks_for_more(hint):
        return NIL
    dropped = _dropped_value(checker, node, expected)
    if node is checker.frame.block:
        return report_missing_return(checker, node, expected, dropped)
    if dropped is not None:
        checker.report(
            MismatchedTypes(
                dropped,
                f"expected `{show(expected)}`, but this `;` drops the value",
                help="remove this `;`",
                edits=(Edit(dropped, ""),),
            )
        )
    else:
        checker.report(
            MismatchedTypes(
                Span(checker.source, max(node.end - 1, node.start), node.end),
                f"expected `{show(expected)}`, but the block ends without a value",
                help="end it with an expression without `;`",
            )
        )
    return ERROR


def _dropped_value(checker: BodyChecker, node: ast.Block, expected: Type) -> Span | None:
    """The `;` after a last statement that would have been the value."""
    last = node.statements[-1] if node.statements and node.result is None else None
    if not isinstance(last, ast.ExprStmt) or not last.semicolon:
        return None
    found = resolve(checker.types[last.expr])
    if found is NIL or fit(found, expected) is None:
        return None
    end = checker.source.text.find(";", last.expr.end)
    return Span(checker.source, end, end + 1) if end >= 0 else None


def report_missing_return(
    checker: BodyChecker, node: ast.Block, expected: Type, dropped: Span | None
) -> Type:
    """Report a body whose end is reached without the value that its signature promises."""
    owner = checker.frame.node
    name = f"`{owner.name.text}`" if isinstance(owner, ast.FnDecl | ast.StageDecl) else "this closure"
    result = getattr(owner, "result", None)
    place = (
        checker.span(result) if isinstance(result, ast.Node) else Span(checker.source, node.end - 1, node.end)
    )
    parts = result_parts(expected)
    if dropped is not None:
        help_ = "remove the `;` after the last expression: it is the value then"
    elif parts is not None and resolve(parts[0]) is NIL:
        help_ = "end it with `Ok(nil)`"
    else:
        help_ = "end it with an expression without `;`, or `return` a value on every path"
    return checker.report(
        MissingReturn(
            place,
            f"{name} promises `{show(expected)}`, but its end is reached without a value",
            help=help_,
            related=((dropped, "this `;` drops the value"),) if dropped is not None else (),
            edits=(Edit(dropped, ""),) if dropped is not None else (),
        )
    )

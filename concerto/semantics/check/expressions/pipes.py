"""`|>`: the value goes into the call on its right."""

from __future__ import annotations

from concerto.diagnostics import MismatchedTypes
from concerto.semantics.check.body_checker import BodyChecker, checks
from concerto.semantics.check.calls.functions import check_call
from concerto.semantics.check.calls.methods import check_method_call
from concerto.semantics.check.expressions.concurrency import awaited_type
from concerto.semantics.check.expressions.error_handling import propagate
from concerto.semantics.model.symbols import ERROR, Type
from concerto.semantics.typing.unify import is_erroneous
from concerto.syntax import ast


@checks(ast.Pipe)
def pipe(checker: BodyChecker, node: ast.Pipe, hint: Type | None) -> Type:
    """`x |> f(a)`: `x` goes first into the last call of the target, under `?` and `.await`."""
    return _pipe_into(checker, node.target, node.value, hint)


def _pipe_into(
    checker: BodyChecker, target: ast.Expr, value: ast.Expr, hint: Type | None, awaited: bool = False
) -> Type:
    first = ast.Argument(value.start, value.end, None, value)
    match target:
        case ast.Try():
            inner = _pipe_into(checker, target.operand, value, None)
            found = propagate(checker, target, inner)
        case ast.Await():
            inner = _pipe_into(checker, target.operand, value, hint, awaited=True)
            found = awaited_type(inner)
        case ast.Call():
            found = check_call(checker, target, target.callee, [first, *target.arguments], hint, awaited)
        case ast.MethodCall():
            found = check_method_call(checker, target, [first, *target.arguments], hint)
        case ast.Path():
            # The path stands for the call, so what is called has a node of its own.
            callee = ast.Path(target.start, target.end, target.segments)
            found = check_call(checker, target, callee, [first], hint, awaited)
        case ast.ErrorExpr():
            checker.infer(value)
            found = ERROR
        case _:
            checker.infer(value)
            found = ERROR
            if not is_erroneous(checker.infer(target)):
                checker.report(
                    MismatchedTypes(
                        checker.span(target),
                        "`|>` goes into a call or a function's name",
                        help="write `x |> f` or `x |> f(…)`; a closure needs a name",
                    )
                )
    checker.types[target] = found
    return found

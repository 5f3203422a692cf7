"""`|>`: the value goes into the call on its right."""

from __future__ import annotations

from concerto.diagnostics import MismatchedTypes
from concerto.semantics.check.body_checker import Body, checks
from concerto.semantics.check.calls.functions import check_call
from concerto.semantics.check.calls.methods import check_method_call
from concerto.semantics.check.expressions.concurrency import awaited_type
from concerto.semantics.check.expressions.failures import propagate
from concerto.semantics.model.types import ERROR, Type
from concerto.syntax import ast


@checks(ast.Pipe)
def pipe(body: Body, node: ast.Pipe, hint: Type | None) -> Type:
    """`x |> f(a)`: `x` goes first into the last call of the target, under `?` and `.await`."""
    return _pipe_into(body, node.target, node.value, hint)


def _pipe_into(
    body: Body, target: ast.Expr, value: ast.Expr, hint: Type | None, awaited: bool = False
) -> Type:
    first = ast.Argument(value.start, value.end, None, value)
    match target:
        case ast.Try():
            inner = _pipe_into(body, target.operand, value, None)
            found = propagate(body, target, inner)
        case ast.Await():
            inner = _pipe_into(body, target.operand, value, hint, awaited=True)
            found = awaited_type(inner)
        case ast.Call():
            found = check_call(body, target, target.callee, [first, *target.arguments], hint, awaited)
        case ast.MethodCall():
            found = check_method_call(body, target, [first, *target.arguments], hint)
        case ast.Path():
            # The path stands for the call, so what is called has a node of its own.
            callee = ast.Path(target.start, target.end, target.segments)
            found = check_call(body, target, callee, [first], hint, awaited)
        case ast.ErrorExpr():
            body.infer(value)
            found = ERROR
        case _:
            body.infer(value)
            body.infer(target)
            found = body.report(
                MismatchedTypes(
                    body.span(target),
                    "`|>` goes into a call or a function's name",
                    help="write `x |> f` or `x |> f(…)`; a closure needs a name",
                )
            )
    body.types[target] = found
    return found

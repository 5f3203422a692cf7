"""Values that statements drop, though that is a mistake (W0006)."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.diagnostics import Problems, UnusedValue
from concerto.semantics.model.analysis import Analysis, NativeCall
from concerto.semantics.model.builtins import AGENT_BUILDER, ITERATOR, NEVER, NIL, result_parts
from concerto.semantics.model.symbols import ERROR, FunctionOf, LocalSymbol, Named, Type
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.unify import resolve
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.walk import walk


def check_unused_values(analysis: Analysis, problems: Problems) -> None:
    """Report the statements of all bodies; bears programs with errors."""
    for body in analysis.bodies:
        for node in body.nodes:
            if isinstance(node, ast.Block):
                _check_block(node, body.source, analysis, problems)


VALUES = frozenset(
    f"std::{kind}"
    for kind in ("array", "float", "int", "map", "option", "queue", "range", "set", "stack", "string")
)
"""Modules whose methods without `mut self` have no effect but their value."""
_MAY_STOP = frozenset({"unwrap", "expect"})


def _check_block(block: ast.Block, source: Source, analysis: Analysis, problems: Problems) -> None:
    for statement in block.statements:
        if not isinstance(statement, ast.ExprStmt):
            continue
        for value in dropped(statement.expr):
            words = _words_of_loss(value, source, analysis)
            # A value that was meant to be that of the block around was told of.
            if words is None and value is statement.expr and not problems.errors:
                words = _words_of_no_effect(value, source, analysis)
            if words is not None:
                message, label, advice = words
                place = value.method if isinstance(value, ast.MethodCall) else value
                span = source.span(place.start, place.end)
                problems.add(UnusedValue(span, message, label=label, help=advice))


def dropped(statement: ast.Expr) -> Iterator[ast.Expr]:
    """The expressions that would be the value of a statement, if it were asked for one."""
    left = [statement]
    while left:
        match value := left.pop():
            case ast.Block(result=result):
                left += [result] if result is not None else []
            case ast.If(then=then, otherwise=otherwise):
                left += [then] if otherwise is None else [then, otherwise]
            case ast.Match(arms=arms):
                left += [arm.body for arm in arms]
            case ast.While(body=body) | ast.Loop(body=body) | ast.For(body=body):
                left.append(body)
            case ast.TryCatch(body=body, catches=catches):
                left += [body, *(catch.body for catch in catches)]
            case _:
                yield value


def _words_of_loss(value: ast.Expr, source: Source, analysis: Analysis) -> tuple[str, str, str] | None:
    """Message, label and help, if it is a mistake not to use the value."""
    type_ = resolve(analysis.types.get(value, ERROR))
    if type_ is NIL:
        return None
    written = quote(source, value)
    if isinstance(value, ast.MethodCall) and _is_lazy(value, type_, analysis):
        loop = f"write a loop: `for item in {quote(source, value.receiver)} {{ … }}`"
        return "nothing goes through this iterator", "it does nothing by itself", loop
    if isinstance(value, ast.MethodCall) and changes_nothing(value, analysis):
        name, kept = value.method.text, _keeper(value, type_, analysis)
        keep = f"keep what it gives: `{kept} = {written};`"
        return f"the value of `{name}` is not used", f"`{name}` changes nothing", keep
    if type_ == AGENT_BUILDER:
        message, end = (
            "this execution is prepared, but never run",
            "end it in `.execute(…)`, or in `.stream(…)`",
        )
        return message, "an `AgentBuilder` asks the model nothing by itself", end
    if result_parts(type_) is not None:
        drop = f"if it does not matter, `let _ = {written};`"
        return (
            "this `Result` is not used",
            "an error would be lost",
            f"pass an error on: `{written}?`, or {drop}",
        )
    return None


def _is_lazy(call: ast.MethodCall, type_: Type, analysis: Analysis) -> bool:
    """Whether a built-in method makes an iterator."""
    is_iterator = isinstance(type_, Named) and type_.symbol is ITERATOR
    target = analysis.calls.get(call)
    return is_iterator and isinstance(target, NativeCall) and target.function.receiver == "self"


def _words_of_no_effect(value: ast.Expr, source: Source, analysis: Analysis) -> tuple[str, str, str] | None:
    """Message, label and help for a statement that only computes something."""
    type_ = resolve(analysis.types.get(value, ERROR))
    if type_ in (NIL, NEVER, ERROR):
        return None
    label = "nothing is done with it"
    match value:
        case ast.Binary(op="==", left=ast.Path() | ast.FieldAccess() | ast.Index()):
            to, what = quote(source, value.left), quote(source, value.right)
            return "the value of `==` is not used", label, f"`=` assigns: `{to} = {what};`"
        case ast.Binary(op=op) if op not in ("&&", "||", "??"):
            return f"the value of `{op}` is not used", label, _kept(value, source)
        case ast.Path() if isinstance(type_, FunctionOf):
            return "this function is not called", label, f"call it: `{quote(source, value)}(…)`"
        case _ if isinstance(value, _ONLY_VALUES):
            return "this value is not used", label, _kept(value, source)
        case _:
            return None


_ONLY_VALUES = (
    ast.Path, ast.FieldAccess, ast.Unary, ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit,
    ast.Interpolation, ast.ArrayLit, ast.TupleLit, ast.MapLit, ast.StructLit, ast.RangeExpr, ast.Closure,
)  # fmt: skip
"""Expressions that do nothing but what their parts do."""


def _kept(value: ast.Expr, source: Source) -> str:
    text = quote(source, value)
    return f"keep it: `let kept = {text};`, or remove the statement"


def _keeper(call: ast.MethodCall, given: Type, analysis: Analysis) -> str:
    """What may keep the value: the variable that was meant to change, or one of its own."""
    local = analysis.uses.get(call.receiver) if isinstance(call.receiver, ast.Path) else None
    if isinstance(local, LocalSymbol) and local.mutable and resolve(local.type) == given:
        return local.name
    return "let kept"


def changes_nothing(call: ast.MethodCall, analysis: Analysis) -> bool:
    """Whether it calls a built-in method that only gives a value."""
    match analysis.calls.get(call):
        case NativeCall(function) if function.receiver == "self" and function.module in VALUES:
            # What calls a closure for its effects often gives nothing, or many nothings.
            return (
                function.name not in _MAY_STOP
                and not _holds_nil(analysis.types.get(call, ERROR))
                and not any(may_act(argument.value, analysis) for argument in call.arguments)
            )
        case _:
            return False


def may_act(argument: ast.Expr, analysis: Analysis) -> bool:
    """Whether it is a function whose calls may do more than give a value."""
    if not isinstance(resolve(analysis.types.get(argument, ERROR)), FunctionOf):
        return False
    if not isinstance(argument, ast.Closure):
        return True
    return any(
        isinstance(node, ast.Call | ast.Pipe | ast.Throw | ast.Try)
        or (isinstance(node, ast.MethodCall) and not changes_nothing(node, analysis))
        for node in walk(argument.body)
    )


def _holds_nil(type_: Type) -> bool:
    type_ = resolve(type_)
    inside = type_.arguments if isinstance(type_, Named) else ()
    return type_ in (NIL, NEVER, ERROR) or any(map(_holds_nil, inside))

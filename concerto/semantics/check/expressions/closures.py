"""Closures: parameters from what is written or expected, captures, result."""

from __future__ import annotations

from concerto.diagnostics import DefinedTwice, MismatchedTypes
from concerto.semantics.check.body_checker import DISCARD, BodyChecker, checks, spoilt, useful_hint
from concerto.semantics.check.patterns import bind_pattern
from concerto.semantics.model.builtins import ANY, NEVER, NIL, option_item
from concerto.semantics.model.symbols import ERROR, FunctionOf, Type, Unsolved
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import fresh, resolve, show, unify
from concerto.syntax import ast
from concerto.wording import counted


@checks(ast.Closure)
def closure(checker: BodyChecker, node: ast.Closure, hint: Type | None) -> Type:
    expected = _expected(checker, node, hint)
    parameters = tuple(_parameter_type(checker, node, i, expected, hint) for i in range(len(node.parameters)))
    result = _result_type(checker, node, expected)
    checker.enter_frame(node, "closure", result, node.body)
    mark = checker.enter_scope()
    _refuse_repeated(checker, node)
    for parameter, type_ in zip(node.parameters, parameters, strict=True):
        _declare(checker, parameter, type_)
    found = _check_body(checker, node, result)
    checker.leave_scope(mark)
    checker.leave_frame()
    if isinstance(resolve(result), Unsolved):
        unify(result, found)
    return (
        ERROR if _expected_function(hint) is not None and expected is None else FunctionOf(parameters, result)
    )


def _check_body(checker: BodyChecker, node: ast.Closure, result: Type) -> Type:
    """Nobody looks at the value of a closure that is to give nothing."""
    if result is NIL and node.result is None:
        checker.infer(node.body, DISCARD)
        return NIL
    if isinstance(resolve(result), Unsolved):
        found = checker.infer(node.body)
        if found is not NEVER:
            checker.coerce(node.body, found, result)
        return found
    return checker.check(node.body, result)


def _expected(checker: BodyChecker, node: ast.Closure, hint: Type | None) -> FunctionOf | None:
    """The function type that is asked for, if it has as many parameters as the closure."""
    expected = _expected_function(hint)
    if expected is None:
        return None
    if len(expected.parameters) == len(node.parameters):
        return expected
    end = node.parameters[-1].end if node.parameters else node.start + 2
    checker.report(
        MismatchedTypes(
            checker.source.span(node.start, end),
            f"expected a closure with {counted(len(expected.parameters), 'parameter')}, "
            f"found one with {len(node.parameters)}",
            help=f"its type is to be `{show(expected)}`",
        )
    )
    return None


def _expected_function(hint: Type | None) -> FunctionOf | None:
    expected = useful_hint(hint)
    if expected is not None:
        expected = resolve(option_item(expected) or expected)
    return expected if isinstance(expected, FunctionOf) else None


def _parameter_type(
    checker: BodyChecker, node: ast.Closure, index: int, expected: FunctionOf | None, hint: Type | None
) -> Type:
    """As written, else as expected; a written type may be wider than the expected one."""
    written = node.parameters[index].type
    if written is not None:
        return resolve_type(checker.declarations, written, checker.scope)
    if expected is None:
        return ERROR if spoilt(hint) else ANY if useful_hint(hint) is ANY else fresh()
    return expected.parameters[index]


def _result_type(checker: BodyChecker, node: ast.Closure, expected: FunctionOf | None) -> Type:
    if node.result is not None:
        return resolve_type(checker.declarations, node.result, checker.scope)
    if expected is None:
        return fresh()
    return expected.result


def _refuse_repeated(checker: BodyChecker, node: ast.Closure) -> None:
    seen: set[str] = set()
    for parameter in node.parameters:
        name = parameter.name.text
        if name in seen and name != "_" and parameter.pattern is None:
            checker.report(DefinedTwice(checker.span(parameter.name), f"parameter `{name}` is defined twice"))
        seen.add(name)


def _declare(checker: BodyChecker, node: ast.Parameter, type_: Type) -> None:
    local = checker.declare(node.name.text, type_, node, "parameter", node.mutable)
    checker.analysis.parameters[node] = local
    if node.pattern is not None:
        bind_pattern(checker, node.pattern, type_, "pattern")

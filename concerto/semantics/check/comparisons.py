"""Comparisons that were read as type arguments: `f(a < b, c > (d))` is a call of `a<b, c>` (E0302)."""

from __future__ import annotations

from concerto.diagnostics import WrongArguments
from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.model.symbols import LocalSymbol, Type
from concerto.syntax import ast


def refuse_type_arguments(checker: BodyChecker, node: ast.Path, local: LocalSymbol) -> Type:
    """A variable has none; what stands there are its neighbours in comparisons."""
    segment = node.segments[0]
    for argument in segment.arguments:
        known = checker.locals.get(argument.segments[0].text) if isinstance(argument, ast.PathType) else None
        if known is not None:
            checker.analysis.uses[ast.Path(argument.start, argument.end, [])] = known
    end = segment.arguments[0].end
    compared = checker.source.text[segment.start : end]
    return checker.report(
        WrongArguments(
            checker.span(segment),
            f"the variable `{local.name}` takes no type arguments",
            help=f"put the comparison into parentheses: `({compared})`",
        )
    )


def is_comparison(checker: BodyChecker, node: ast.Expr) -> bool:
    """Whether an argument is one, or two of them, that was refused."""
    callee = node.callee if isinstance(node, ast.Call) else None
    if not isinstance(callee, ast.Path) or not callee.segments[0].arguments:
        return False
    return callee.segments[0].name.text in checker.locals

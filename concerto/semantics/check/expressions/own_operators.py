"""Operators of own types: calls of the methods of `impl Add for Money` and the like."""

from __future__ import annotations

from concerto.semantics.check.body_checker import BodyChecker
from concerto.semantics.check.calls.functions import call_function
from concerto.semantics.check.witnesses import exact_matches, fitting_matches
from concerto.semantics.model.builtins import NEG, OPERATORS
from concerto.semantics.model.scope import MethodMatch
from concerto.semantics.model.symbols import ERROR, TraitSymbol, Type
from concerto.semantics.typing.members import commit_match, find_trait_function
from concerto.semantics.typing.unify import substitute
from concerto.syntax import ast


def own_operator(
    checker: BodyChecker,
    node: ast.Binary | ast.Assign,
    op: str,
    left: ast.Expr,
    left_type: Type,
    right: ast.Expr,
    right_type: Type,
) -> Type | None:
    """The result of `left op right` by an impl of the operator's trait for the left type, None if there is
    none. Both operands are checked; the call is noted for the operator's node."""
    trait = OPERATORS.get(op)
    if trait is None:
        return None
    match = _method(checker, trait, left_type)
    if match is None:
        return None
    fitting = exact_matches(match, right_type)
    if not fitting:
        asked = [
            (each, substitute(each.function.parameters[0].type, each.substitution))
            for each in (match, *match.others)
            if each.function.parameters
        ]
        if not asked:
            # Reported where it does not fit the trait.
            return ERROR
        fitting = fitting_matches(right_type, asked) or [match]
    chosen = commit_match(fitting[0])
    argument = ast.Argument(right.start, right.end, None, right)
    start = node.op_start if isinstance(node, ast.Binary) else right.start
    return _call(checker, node, start, chosen, left, [argument], {right: right_type})


def own_negation(checker: BodyChecker, node: ast.Unary, found: Type) -> Type | None:
    """The result of `-x` by an impl of `Neg`, None if there is none."""
    match = _method(checker, NEG, found)
    return None if match is None else _call(checker, node, node.start, match, node.operand, [], {})


def _method(checker: BodyChecker, trait: TraitSymbol, type_: Type) -> MethodMatch | None:
    return find_trait_function(checker.declarations, type_, trait, (), next(iter(trait.methods)))


def _call(
    checker: BodyChecker,
    node: ast.Expr,
    start: int,
    match: MethodMatch,
    receiver: ast.Expr,
    arguments: list[ast.Argument],
    inferred: dict[ast.Expr, Type],
) -> Type:
    function = match.function
    name = ast.Ident(start, start + 1, function.name)
    return call_function(
        checker, node, name, function, match.substitution, arguments, None, receiver, match.dynamic, inferred
    )

"""`a[i]`, `m[k]`, `t[0]` and slices."""

from __future__ import annotations

from concerto.diagnostics import BadOperands
from concerto.semantics.check.body_checker import BodyChecker, checks
from concerto.semantics.check.calls.methods import tuple_item
from concerto.semantics.check.paths import names_type
from concerto.semantics.check.unknown_members import report_unknown_type
from concerto.semantics.model.builtins import (
    ANY,
    HASH_MAP,
    INT,
    NEVER,
    STRING,
    array_item,
    map_parts,
    option_item,
    result_parts,
)
from concerto.semantics.model.symbols import ERROR, ErrorType, FunctionOf, Named, TupleOf, Type, Unsolved
from concerto.semantics.typing.coercion import widened
from concerto.semantics.typing.mismatches import quote
from concerto.semantics.typing.unify import show
from concerto.syntax import ast


@checks(ast.Index)
def index(checker: BodyChecker, node: ast.Index, hint: Type | None) -> Type:
    receiver = widened(checker.infer(node.receiver))
    if isinstance(node.index, ast.RangeExpr):
        return _slice(checker, node, receiver)
    item = array_item(receiver)
    if item is not None:
        checker.check(node.index, INT)
        return item
    parts = map_parts(receiver)
    if parts is not None:
        checker.check(node.index, parts[0])
        return parts[1]
    if receiver is STRING:
        checker.check(node.index, INT)
        return STRING
    if isinstance(receiver, TupleOf) and isinstance(node.index, ast.IntLit):
        checker.types[node.index] = INT
        return tuple_item(checker, node, node.index, receiver, node.index.value)
    if isinstance(receiver, FunctionOf) and names_type(checker, node.index):
        checker.types[node.index] = ERROR
        return _report(checker, node, receiver)
    checker.infer(node.index)
    if receiver is ANY or isinstance(receiver, ErrorType) or receiver is NEVER:
        return receiver
    if isinstance(receiver, Unsolved):
        return report_unknown_type(checker, node.receiver, "to index it")
    return _report(checker, node, receiver)


def _slice(checker: BodyChecker, node: ast.Index, receiver: Type) -> Type:
    checker.infer(node.index)
    if (
        array_item(receiver) is not None
        or receiver in (STRING, ANY, NEVER)
        or isinstance(receiver, ErrorType)
    ):
        return receiver
    if isinstance(receiver, Unsolved):
        return report_unknown_type(checker, node.receiver, "to slice it")
    return _report(checker, node, receiver)


def _report(checker: BodyChecker, node: ast.Index, receiver: Type) -> Type:
    quoted = quote(checker.source, node.receiver)
    help_ = ""
    if option_item(receiver) is not None or result_parts(receiver) is not None:
        help_ = f"take the value out first: `{quoted}?`"
    elif isinstance(receiver, Named) and receiver.symbol is HASH_MAP:
        key = checker.text(node.index)
        help_ = f"ask for the key: `{quoted}.get({key})`, or set it: `{quoted}.set({key}, …)`"
    elif isinstance(receiver, FunctionOf) and names_type(checker, node.index):
        help_ = f"types stand in `<…>`: `{quoted}<{checker.text(node.index)}>(…)`"
    elif isinstance(receiver, TupleOf):
        help_ = "an element of a tuple is named by a literal: `t.0`"
    return checker.report(
        BadOperands(checker.span(node), f"`[]` is not defined for `{show(receiver)}`", help=help_)
    )

"""Compile-time constants: values that are known when a program is compiled, constants, settings, arguments of
decorators.

Constant expressions are those of `concerto.semantics.typing.constant_evaluator`; a `const` may also be `None`
or `Some(…)`. Anything else is E0412 where a constant is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from concerto.diagnostics import BadDeclarationField, MismatchedTypes, did_you_mean
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.model.builtins import (
    ANY,
    FLOAT,
    INT,
    PROMPT,
    array_item,
    map_parts,
    option_item,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, ConstSymbol, ErrorType, Literals, TupleOf, Type
from concerto.semantics.typing.constant_evaluator import ConstantEvaluator, NotConstant, Value, type_of
from concerto.semantics.typing.type_expressions import declared_type, resolve_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast


class DeclaredConstants(ConstantEvaluator):
    """Constant expressions of declarations, in a scope."""

    def __init__(self, declarations: Declarations, scope: TypeScope) -> None:
        self.declarations = declarations
        self.scope = scope

    def named(self, node: ast.Path) -> Value:
        declarations, scope = self.declarations, self.scope
        symbol = resolve_path(declarations, [segment.name for segment in node.segments], scope)
        if symbol is None:
            raise NotConstant(node, "")  # reported
        if not isinstance(symbol, ConstSymbol):
            near = declarations.problems.nearest(
                node.name, [n for n, s in declarations.visible_names(scope) if isinstance(s, ConstSymbol)]
            )
            help_ = did_you_mean(near, "write a literal or the name of a `const`")
            raise NotConstant(node, f"`{node.name}` is not a constant", help_)
        match complete_const(declarations, symbol):
            case "complete":
                return symbol.value
            case "open":
                raise NotConstant(node, f"`{symbol.name}` is defined by itself", "give it a value of its own")
            case "broken":
                raise NotConstant(node, "")  # reported


def evaluate(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> Value:
    """The value of a constant expression; raises NotConstant."""
    return DeclaredConstants(declarations, scope).value(node)


def try_evaluate(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> tuple[Value] | None:
    """The value in a tuple of one, or None after reporting E0412."""
    try:
        return (evaluate(declarations, node, scope),)
    except NotConstant as problem:
        if problem.message:
            declarations.report(
                BadDeclarationField, scope.module, problem.node, problem.message, help=problem.help
            )
        return None


def fill_const(
    declarations: Declarations, symbol: ConstSymbol, node: ast.ConstDecl, scope: TypeScope
) -> bool:
    """Find the value of a `const` and check it against its type; False if it has none."""
    declared = None if node.type is None else resolve_type(declarations, node.type, scope)
    value = node.value
    if declared is not None and option_item(declared) is not None:
        if isinstance(value, ast.Path) and value.name == "None":
            symbol.type, symbol.value = declared, None
            return True
        value = _in_some(value) or value
    found = try_evaluate(declarations, value, scope)
    if found is None:
        symbol.type = declared or ERROR
        return False
    if declared is None:
        symbol.type, symbol.value = type_of(found[0]), found[0]
        return True
    symbol.type = declared
    fitted = fit_value(found[0], declared)
    if fitted is None:
        message = f"expected `{show(declared)}`, found `{show(type_of(found[0]))}`"
        declarations.report(MismatchedTypes, scope.module, node.value, message)
        return False
    symbol.value = fitted[0]
    return True


def _in_some(node: ast.Expr) -> ast.Expr | None:
    """The `x` of `Some(x)`."""
    if not isinstance(node, ast.Call) or len(node.arguments) != 1 or node.arguments[0].name is not None:
        return None
    callee = node.callee
    return node.arguments[0].value if isinstance(callee, ast.Path) and callee.name == "Some" else None


def fit_value(value: Value, wanted: Type) -> tuple[Value] | None:
    """The value as one of the wanted type (an Int becomes a Float), in a tuple of one; None if it is
    not."""
    if wanted is ANY or isinstance(wanted, ErrorType):
        return (value,)
    inside = option_item(wanted)
    if inside is not None:
        return None if value is None else fit_value(value, inside)
    if wanted == FLOAT and type_of(value) == INT:
        return (float(value),)
    if wanted == PROMPT and isinstance(value, str):
        return (value,)
    if isinstance(wanted, Literals):
        kind = show(type_of(value))
        return (value,) if (kind, value) in wanted.values else None
    if isinstance(wanted, TupleOf) and isinstance(value, tuple) and len(value) == len(wanted.items):
        return _fit_all(value, wanted.items, tuple)
    item = array_item(wanted)
    if item is not None and isinstance(value, list):
        return _fit_all(value, (item,) * len(value), list)
    parts = map_parts(wanted)
    if parts is not None and isinstance(value, dict):
        keys = _fit_all(list(value), (parts[0],) * len(value), list)
        values = _fit_all(list(value.values()), (parts[1],) * len(value), list)
        return (dict(zip(keys[0], values[0], strict=True)),) if keys and values else None
    return (value,) if type_of(value) == wanted else None


def _fit_all(
    values: list[Value] | tuple[Value, ...], types: tuple[Type, ...], make: Callable[[list[Value]], Value]
) -> tuple[Value] | None:
    fitted = [fit_value(value, type_) for value, type_ in zip(values, types, strict=True)]
    if any(one is None for one in fitted):
        return None
    return (make([one[0] for one in fitted if one is not None]),)


def complete_const(declarations: Declarations, symbol: ConstSymbol) -> Literal["complete", "open", "broken"]:
    """Find the value of a constant if that was not done before: `open` if it is being done right now,
    `broken` if the constant has none, which was reported."""
    state = declarations.open_consts.get(symbol, "complete")
    if state == "waiting":
        declarations.open_consts[symbol] = "open"
        assert isinstance(symbol.node, ast.ConstDecl)
        module = declarations.module_of(symbol)
        scope = declarations.module_scope(module)
        if symbol.owner is not None:
            scope = TypeScope(module, scope.generics, declared_type(symbol.owner))
        state = "complete" if fill_const(declarations, symbol, symbol.node, scope) else "broken"
        declarations.open_consts[symbol] = state
    return state

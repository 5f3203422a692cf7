"""Values that are known when a program is compiled: constants, settings, arguments of decorators.

A constant expression is a literal, an array, map or tuple of constants, the name of a `const`, arithmetic
on these, or a string that interpolates them; a `const` may also be `None` or `Some(…)`. Anything else is
E0412 where a constant is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from concerto.diagnostics import BadDeclarationField, MismatchedTypes
from concerto.semantics.declare.resolution import resolve_path
from concerto.semantics.model.builtins import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NIL,
    PROMPT,
    STRING,
    array_item,
    array_of,
    map_of,
    map_parts,
    option_item,
)
from concerto.semantics.model.declarations import Declarations
from concerto.semantics.model.scope import TypeScope
from concerto.semantics.model.symbols import ERROR, ConstSymbol, ErrorType, Literals, TupleOf, Type
from concerto.semantics.typing.type_expressions import resolve_type
from concerto.semantics.typing.unify import show
from concerto.syntax import ast

Value = Any
"""int, float, str, bool, None, list, tuple or dict."""

_INT_LIMITS: Final = (-(2**63), 2**63 - 1)


class NotConstant(Exception):
    """A finding about the program, not an error of ours: the expression `node` has no value before the
    program runs."""

    def __init__(self, node: ast.Node, message: str, help_: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.help = help_


def evaluate(declarations: Declarations, node: ast.Expr, scope: TypeScope) -> Value:
    """The value of a constant expression; raises NotConstant."""
    match node:
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit():
            return node.value
        case ast.NilLit():
            return None
        case ast.ArrayLit():
            return [evaluate(declarations, item, scope) for item in node.items]
        case ast.TupleLit():
            return tuple([evaluate(declarations, item, scope) for item in node.items])
        case ast.MapLit():
            return _map(declarations, node, scope)
        case ast.Path():
            return _named(declarations, node, scope)
        case ast.Unary():
            return _unary(node, evaluate(declarations, node.operand, scope))
        case ast.Binary():
            return _chain(declarations, node, scope)
        case ast.Interpolation():
            parts = [
                p if isinstance(p, str) else _text(p, evaluate(declarations, p, scope)) for p in node.parts
            ]
            return "".join(parts)
        case _:
            raise NotConstant(
                node, "this is computed when the program runs", "write a literal or the name of a `const`"
            )


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


def type_of(value: Value) -> Type:
    """The type of a constant's value."""
    match value:
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case str():
            return STRING
        case tuple():
            return TupleOf(tuple(map(type_of, value)))
        case list():
            return array_of(_common(list(map(type_of, value))))
        case dict():
            key = INT if value and all(isinstance(key, int) for key in value) else STRING
            return map_of(key, _common(list(map(type_of, value.values()))))
        case _:
            return NIL


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


def _common(types: list[Type]) -> Type:
    if not types:
        return ANY
    if all(type_ == types[0] for type_ in types):
        return types[0]
    return FLOAT if all(type_ in (INT, FLOAT) for type_ in types) else ANY


def _map(declarations: Declarations, node: ast.MapLit, scope: TypeScope) -> Value:
    result: dict[Any, Any] = {}
    for entry in node.entries:
        key = evaluate(declarations, entry.key, scope)
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise NotConstant(entry.key, "the keys of a constant map are strings or numbers")
        if key in result:
            raise NotConstant(entry.key, f"the key `{key}` is given twice", "remove one of the two")
        result[key] = evaluate(declarations, entry.value, scope)
    return result


def _named(declarations: Declarations, node: ast.Path, scope: TypeScope) -> Value:
    symbol = resolve_path(declarations, [segment.name for segment in node.segments], scope)
    if symbol is None:
        raise NotConstant(node, "")  # reported
    if not isinstance(symbol, ConstSymbol):
        near = declarations.problems.nearest(
            node.name, [n for n, s in declarations.visible_names(scope) if isinstance(s, ConstSymbol)]
        )
        help_ = f"did you mean `{near}`?" if near else "write a literal or the name of a `const`"
        raise NotConstant(node, f"`{node.name}` is not a constant", help_)
    match complete_const(declarations, symbol):
        case "complete":
            return symbol.value
        case "open":
            raise NotConstant(node, f"`{symbol.name}` is defined by itself", "give it a value of its own")
        case "broken":
            raise NotConstant(node, "")  # reported


def _unary(node: ast.Unary, value: Value) -> Value:
    if node.op == "!" and isinstance(value, bool):
        return not value
    if node.op == "-" and isinstance(value, int | float) and not isinstance(value, bool):
        return _checked(node, -value)
    raise NotConstant(node, f"`{node.op}` is not defined for `{show(type_of(value))}`")


def _chain(declarations: Declarations, node: ast.Binary, scope: TypeScope) -> Value:
    """Long chains lean left, so the left spine is walked in a loop."""
    spine: list[ast.Binary] = []
    current: ast.Expr = node
    while isinstance(current, ast.Binary):
        spine.append(current)
        current = current.left
    value = evaluate(declarations, current, scope)
    for step in reversed(spine):
        value = _binary(step, value, evaluate(declarations, step.right, scope))
    return value


def _binary(node: ast.Binary, left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str) and node.op == "+":
        return left + right
    if not (_is_number(left) and _is_number(right)) or node.op not in ("+", "-", "*", "/", "%"):
        types = f"`{show(type_of(left))}` and `{show(type_of(right))}`"
        raise NotConstant(node, f"`{node.op}` of {types} is not a constant")
    if node.op in ("/", "%") and right == 0:
        raise NotConstant(node, "division by zero")
    match node.op:
        case "+":
            return _checked(node, left + right)
        case "-":
            return _checked(node, left - right)
        case "*":
            return _checked(node, left * right)
        case _:
            return _divided(node, left, right)


def _divided(node: ast.Binary, left: Value, right: Value) -> Value:
    """Division and remainder truncate toward zero for Ints."""
    if isinstance(left, float) or isinstance(right, float):
        quotient = left / right
        return quotient if node.op == "/" else left - right * int(quotient)
    sign = 1 if (left < 0) == (right < 0) else -1
    whole = sign * (abs(left) // abs(right))
    return _checked(node, whole if node.op == "/" else left - right * whole)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _checked(node: ast.Node, value: Value) -> Value:
    if isinstance(value, int) and not _INT_LIMITS[0] <= value <= _INT_LIMITS[1]:
        raise NotConstant(node, "this number does not fit into 64 bits")
    return value


def _text(node: ast.Expr, value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            raise NotConstant(node, f"a `{show(type_of(value))}` is not put into constant text")


def complete_const(declarations: Declarations, symbol: ConstSymbol) -> Literal["complete", "open", "broken"]:
    """Find the value of a constant if that was not done before: `open` if it is being done right now,
    `broken` if the constant has none, which was reported."""
    state = declarations.open_consts.get(symbol, "complete")
    if state == "waiting":
        declarations.open_consts[symbol] = "open"
        assert isinstance(symbol.node, ast.ConstDecl)
        scope = declarations.module_scope(declarations.module_of(symbol))
        state = "complete" if fill_const(declarations, symbol, symbol.node, scope) else "broken"
        declarations.open_consts[symbol] = state
    return state

"""The values of constant expressions, wherever a program needs one before it runs.

A constant expression is a literal, an array, map or tuple of constants, the name of a `const`, arithmetic on
these, or a string that interpolates them. What a name or a call means is told by who asks: while declarations
are read that is found by its scope (`concerto.semantics.declare.constants`), and by the tables of the checker
afterwards (`concerto.emit.json_constants`).
"""

from __future__ import annotations

import math
import operator
from typing import Any, Final, Literal, TypeAlias

from concerto import ieee
from concerto.records import frozen
from concerto.semantics.model.builtins import ANY, BOOL, FLOAT, INT, NIL, STRING, array_of, map_of, option_of
from concerto.semantics.model.symbols import Named, StructSymbol, TupleOf, Type, VariantSymbol
from concerto.semantics.typing.unify import show
from concerto.syntax import ast
from concerto.text_formats import python_format

Value: TypeAlias = Any
"""int, float, str, bool, None, list, tuple, dict, Constructed or Optional."""

Fault: TypeAlias = Literal["computed", "value", "type", "fit"]
"""Why an expression is no constant: it needs a running program; its value cannot be, as that of `1 / 0`; its
parts do not fit together, which the checking of types reports too; it is of another type than is wanted."""

_INT_LIMITS: Final = (-(2**63), 2**63 - 1)


@frozen
class Constructed:
    """A value of a struct or an enum, with the values of its fields as declared."""

    made: StructSymbol | VariantSymbol
    values: tuple[Value, ...]


@frozen
class Optional:
    """A value of an Option: `held` has what is in `Some`, and nothing for `None`."""

    held: tuple[Value, ...]


class NotConstant(Exception):
    """A finding about the program, not an error of ours: the expression `node` has no value before the
    program runs. Without a message it was reported."""

    def __init__(self, node: ast.Node, message: str, help_: str = "", fault: Fault = "type") -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.help = help_
        self.fault = fault


class ConstantEvaluator:
    """Finds the values of constant expressions. `finite`: a Float must be a number."""

    finite = False

    def value(self, node: ast.Expr) -> Value:
        """The value of an expression; raises NotConstant."""
        match node:
            case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit():
                return node.value
            case ast.NilLit():
                return None
            case ast.ArrayLit():
                return [self.value(item) for item in node.items]
            case ast.TupleLit():
                return tuple([self.value(item) for item in node.items])
            case ast.MapLit():
                return self._map(node)
            case ast.Path():
                return self.named(node)
            case ast.Call() | ast.StructLit():
                return self.built(node)
            case ast.Unary():
                return self._unary(node)
            case ast.Binary():
                return self._chain(node)
            case ast.Interpolation():
                parts = [
                    part if isinstance(part, str) else _text(part, self.value(part)) for part in node.parts
                ]
                return "".join(parts)
            case ast.Formatted():
                return self._formatted(node)
            case _:
                raise computed(node)

    def named(self, node: ast.Path) -> Value:
        """The value behind a name."""
        raise computed(node)

    def built(self, node: ast.Call | ast.StructLit) -> Value:
        """The value that a constructor makes."""
        raise computed(node)

    def key(self, node: ast.Expr, value: Value, known: dict[Any, Any]) -> Value:
        """A key of a constant map that has those that are `known`."""
        if isinstance(value, bool | None) or not _is_key(value):
            message = "the keys of a constant map are strings, Ints, or tuples, structs or enums of these"
            raise NotConstant(node, message)
        if value in known:
            key = f"the key `{value}`" if isinstance(value, str | int) else "this key"
            raise NotConstant(node, f"{key} is given twice", "remove one of the two")
        return value

    def _map(self, node: ast.MapLit) -> Value:
        result: dict[Any, Any] = {}
        for entry in node.entries:
            result[self.key(entry.key, self.value(entry.key), result)] = self.value(entry.value)
        return result

    def _formatted(self, node: ast.Formatted) -> Value:
        value = self.value(node.value)
        type_name = show(type_of(value))
        known = python_format(type_name, node.format)
        if known is None:
            raise NotConstant(node, f"a value of type `{type_name}` has no format `{node.format}`")
        return format(value, known)

    def _unary(self, node: ast.Unary) -> Value:
        value = self.value(node.operand)
        if node.op == "!" and isinstance(value, bool):
            return not value
        if node.op == "!" and _is_int(value):
            return ~value
        if node.op == "-" and _is_number(value):
            return self._checked(node, -value)
        raise NotConstant(node, f"`{node.op}` is not defined for `{show(type_of(value))}`")

    def _chain(self, node: ast.Binary) -> Value:
        """Long chains lean left, so the left spine is walked in a loop."""
        spine: list[ast.Binary] = []
        current: ast.Expr = node
        while isinstance(current, ast.Binary):
            spine.append(current)
            current = current.left
        value = self.value(current)
        for step in reversed(spine):
            value = self.step(step, self._binary(step, value, self.value(step.right)))
        return value

    def step(self, node: ast.Binary, value: Value) -> Value:
        """What a step in a chain of operators is to the next one."""
        return value

    def _binary(self, node: ast.Binary, left: Value, right: Value) -> Value:
        if isinstance(left, str) and isinstance(right, str) and node.op == "+":
            return left + right
        if node.op in _BITS and _is_int(left) and _is_int(right):
            return _of_bits(node, left, right)
        if not (_is_number(left) and _is_number(right)) or node.op not in ("+", "-", "*", "/", "%", "**"):
            types = f"`{show(type_of(left))}` and `{show(type_of(right))}`"
            raise NotConstant(node, f"`{node.op}` of {types} is not a constant", fault="computed")
        if node.op in ("/", "%") and right == 0 and _is_int(left) and _is_int(right):
            raise NotConstant(node, "division by zero", fault="value")
        match node.op:
            case "+":
                return self._checked(node, left + right)
            case "-":
                return self._checked(node, left - right)
            case "*":
                return self._checked(node, left * right)
            case "**":
                return self._checked(node, _power(node, left, right))
            case _:
                return self._checked(node, _divided(node, left, right))

    def _checked(self, node: ast.Node, value: Value) -> Value:
        if isinstance(value, int) and not _INT_LIMITS[0] <= value <= _INT_LIMITS[1]:
            raise NotConstant(node, "this number does not fit into 64 bits", fault="value")
        if self.finite and not math.isfinite(value):
            raise NotConstant(node, "this is no finite number", fault="value")
        return value


def computed(node: ast.Node) -> NotConstant:
    """What is raised for an expression that only a running program can evaluate."""
    return NotConstant(
        node, "this is computed when the program runs", "write a literal or the name of a `const`", "computed"
    )


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
        case Constructed(made=made):
            return Named(made.enum if isinstance(made, VariantSymbol) else made)
        case Optional(held=held):
            return option_of(type_of(held[0]) if held else ANY)
        case list():
            return array_of(_common(list(map(type_of, value))))
        case dict():
            key = _common(list(map(type_of, value)))
            return map_of(STRING if key is ANY else key, _common(list(map(type_of, value.values()))))
        case _:
            return NIL


def _is_key(value: Value) -> bool:
    parts = value
    if isinstance(value, Constructed | Optional):
        parts = value.values if isinstance(value, Constructed) else value.held
    return all(map(_is_key, parts)) if isinstance(parts, tuple) else isinstance(value, str | int | None)


def _common(types: list[Type]) -> Type:
    if not types:
        return ANY
    if all(type_ == types[0] for type_ in types):
        return types[0]
    return FLOAT if all(type_ in (INT, FLOAT) for type_ in types) else ANY


def _divided(node: ast.Binary, left: Value, right: Value) -> Value:
    """Division and remainder truncate toward zero for Ints."""
    if isinstance(left, float) or isinstance(right, float):
        return ieee.divide_float(left, right) if node.op == "/" else ieee.remainder_float(left, right)
    sign = 1 if (left < 0) == (right < 0) else -1
    whole = sign * (abs(left) // abs(right))
    return whole if node.op == "/" else left - right * whole


def _power(node: ast.Binary, left: Value, right: Value) -> Value:
    if isinstance(left, float) or isinstance(right, float):
        return ieee.power_float(left, right)
    if right < 0:
        raise NotConstant(node, "an Int cannot be raised to a negative power", fault="value")
    return left ** min(right, 64 + right % 2)  # Of what fits into 64 bits, that is the power itself.


def _of_bits(node: ast.Binary, left: int, right: int) -> Value:
    if node.op in ("<<", ">>") and not 0 <= right < 64:
        raise NotConstant(node, f"a shift is by 0 to 63 bits, found {right}", fault="value")
    found = _BITS[node.op](left, right) & (2**64 - 1)
    return found if found < 2**63 else found - 2**64


_BITS: Final = {
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift
}  # fmt: skip


def _is_int(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(node: ast.Expr, value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            raise NotConstant(
                node, f"a `{show(type_of(value))}` is not put into constant text", fault="computed"
            )

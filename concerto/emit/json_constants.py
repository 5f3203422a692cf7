"""Default values as JSON, for schemas and for arguments that a model leaves out; names that models use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from concerto.json_data import Json
from concerto.semantics.model.analysis import Analysis, ConstructorCall, WrapCall
from concerto.semantics.model.builtins import FLOAT
from concerto.semantics.model.symbols import ConstSymbol, FieldSymbol, StructSymbol, VariantSymbol
from concerto.semantics.typing.constant_evaluator import (
    ConstantEvaluator,
    Constructed,
    Optional,
    Value,
    computed,
)
from concerto.syntax import ast


def json_constant(analysis: Analysis, node: ast.Expr) -> Json:
    """The value of an expression in payload form; raises NotConstant."""
    return _payload(_CheckedConstants(analysis).value(node))


class _CheckedConstants(ConstantEvaluator):
    """Constant expressions whose names and conversions the checker found."""

    finite = True

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def value(self, node: ast.Expr) -> Value:
        return self._converted(node, super().value(node))

    def step(self, node: ast.Binary, value: Value) -> Value:
        return self._converted(node, value)

    def _converted(self, node: ast.Expr, value: Value) -> Value:
        coercions = self.analysis.coercions.get(node, ())
        return float(value) if any(coercion.kind == "int_to_float" for coercion in coercions) else value

    def key(self, node: ast.Expr, value: Value, known: dict[Any, Any]) -> Value:
        if isinstance(value, dict):  # Of a struct: Python has no such key.
            raise computed(node)
        return value

    def named(self, node: ast.Path) -> Value:
        match self.analysis.uses.get(node):
            case ConstSymbol(value=value, type=type_):
                return float(value) if type_ == FLOAT and isinstance(value, int) else value
            case VariantSymbol(name=name):
                return name
            case symbol if symbol is not None and symbol.name == "None":
                return None
            case _:
                raise computed(node)

    def built(self, node: ast.Call | ast.StructLit) -> Value:
        return self._call(node) if isinstance(node, ast.Call) else self._struct(node)

    def _call(self, node: ast.Call) -> Value:
        match self.analysis.calls.get(node):
            case WrapCall(name="Some", argument=argument) if isinstance(argument, ast.Node):
                return self.value(argument)
            case ConstructorCall(made=made, arguments=arguments):
                given = [self.value(a) for a in arguments if isinstance(a, ast.Node)]
                data = given[0] if len(given) == 1 else given
                return {"variant": made.name, "data": data} if isinstance(made, VariantSymbol) else data
            case _:
                raise computed(node)

    def _struct(self, node: ast.StructLit) -> Value:
        symbol = self.analysis.uses.get(node.path)
        if not isinstance(symbol, StructSymbol) or node.base is not None:
            raise computed(node)
        written = {init.name.text: init.value for init in node.fields}
        result: dict[str, Value] = {}
        for field in symbol.fields:
            value = written.get(field.name, field.default)
            if value is not None:
                result[field.name] = self.value(value)
            elif not field.optional:
                raise computed(node)
        return result


def _payload(value: Value) -> Json:
    match value:
        case list() | tuple():
            return [_payload(item) for item in value]
        case Optional(held=held):
            return _payload(held[0]) if held else None
        case Constructed(made=made, values=values):
            return _payload(_payload_of(made, values))
        case dict():
            return {_key(key): _payload(item) for key, item in value.items()}
        case _:
            return value


def _payload_of(made: StructSymbol | VariantSymbol, values: tuple[Value, ...]) -> Value:
    """What the value of a constant is in JSON."""
    if isinstance(made, VariantSymbol) and not values:
        return made.name
    named = made.named if isinstance(made, VariantSymbol) else not made.positional
    data: Value = values[0] if len(values) == 1 else values
    if named:
        data = {field.name: value for field, value in zip(made.fields, values, strict=True)}
    return {"variant": made.name, "data": data} if isinstance(made, VariantSymbol) else data


def _key(key: Value) -> str:
    key = _payload(key)
    if isinstance(key, list | dict):
        return json.dumps(key, ensure_ascii=False)
    return ("false", "true")[key] if isinstance(key, bool) else str(key)


def aliases_of(analysis: Analysis, members: Iterable[FieldSymbol | VariantSymbol]) -> dict[str, str]:
    """What models call the members that have another name for them, by `@alias`."""
    return {
        member.name: str(analysis.decorators[decorator]["name"])
        for member in members
        if isinstance(member.node, ast.ItemBase)
        for decorator in member.node.decorators
        if decorator.name.text == "alias"
    }

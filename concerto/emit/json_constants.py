"""Default values as JSON, for schemas and for arguments that a model leaves out."""

from __future__ import annotations

from concerto.ir.module import Json
from concerto.semantics.model.analysis import Analysis, VariantCall, WrapCall
from concerto.semantics.model.builtins import FLOAT
from concerto.semantics.model.symbols import ConstSymbol, StructSymbol, VariantSymbol
from concerto.syntax import ast


class NotJson(Exception):
    """The expression has a value only when the program runs."""


def json_constant(analysis: Analysis, node: ast.Expr) -> Json:
    """The value of an expression in payload form; raises NotConstant."""
    coercions = analysis.coercions.get(node, ())
    value = _json(analysis, node)
    if any(coercion.kind == "int_to_float" for coercion in coercions):
        return float(value)
    return value


def _json(analysis: Analysis, node: ast.Expr) -> Json:
    match node:
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit():
            return node.value
        case ast.NilLit():
            return None
        case ast.Unary(op="-", operand=ast.IntLit() | ast.FloatLit() as number) if number.value >= 0:
            return -number.value
        case ast.ArrayLit(items=items) | ast.TupleLit(items=items):
            return [json_constant(analysis, item) for item in items]
        case ast.MapLit(entries=entries):
            return {_key(analysis, e.key): json_constant(analysis, e.value) for e in entries}
        case ast.Path():
            return _named(analysis, node)
        case ast.Call():
            return _built(analysis, node)
        case ast.StructLit():
            return _struct(analysis, node)
        case _:
            raise NotJson


def _key(analysis: Analysis, node: ast.Expr) -> str:
    match json_constant(analysis, node):
        case bool(key):
            return "true" if key else "false"
        case key:
            return str(key)


def _named(analysis: Analysis, node: ast.Path) -> Json:
    match analysis.uses.get(node):
        case ConstSymbol(value=value, type=type_):
            return float(value) if type_ == FLOAT and isinstance(value, int) else value
        case VariantSymbol(name=name):
            return name
        case symbol if symbol is not None and symbol.name == "None":
            return None
        case _:
            raise NotJson


def _built(analysis: Analysis, node: ast.Call) -> Json:
    match analysis.calls.get(node):
        case WrapCall(name="Some", argument=argument) if isinstance(argument, ast.Node):
            return json_constant(analysis, argument)
        case VariantCall(variant=variant, arguments=arguments):
            given = [json_constant(analysis, a) for a in arguments if isinstance(a, ast.Node)]
            return {"variant": variant.name, "data": given[0] if len(given) == 1 else given}
        case _:
            raise NotJson


def _struct(analysis: Analysis, node: ast.StructLit) -> Json:
    symbol = analysis.uses.get(node.path)
    if not isinstance(symbol, StructSymbol) or node.base is not None:
        raise NotJson
    written = {init.name.text: init.value for init in node.fields}
    result: dict[str, Json] = {}
    for field in symbol.fields:
        value = written.get(field.name, field.default)
        if value is not None:
            result[field.name] = json_constant(analysis, value)
        elif not field.optional:
            raise NotJson
    return result

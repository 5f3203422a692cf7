"""Literals, names, operators and what is built from parts."""

from __future__ import annotations

from functools import partial

from concerto.semantics.model import symbols as sym
from concerto.semantics.model.builtins import FLOAT, INT, NIL, option_item
from concerto.semantics.model.symbols import FunctionOf
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.access import element, part, place_of, slice_of
from tests.oracle.calls import call, function_meant, function_value
from tests.oracle.fitting import constant, converted
from tests.oracle.numbers import arithmetic, checked, negated, to_int
from tests.oracle.run import EVALUATORS, Frame, evaluates
from tests.oracle.text import formatted, text_of

EVALUATORS.update(
    {
        **dict.fromkeys((ast.IntLit, ast.FloatLit, ast.StringLit, ast.BoolLit), lambda f, node: node.value),
        ast.NilLit: lambda f, node: None,
        ast.Interpolation: lambda f, node: "".join(
            [part if isinstance(part, str) else text_of(f.value(part)) for part in node.parts]
        ),
        ast.Formatted: lambda f, node: formatted(f.value(node.value), node.format),
        ast.ArrayLit: lambda f, node: f.values(node.items),
        ast.TupleLit: lambda f, node: v.tuple_of(f.values(node.items)),
        ast.MapLit: lambda f, node: v.Map([f.values((entry.key, entry.value)) for entry in node.entries]),
        ast.RangeExpr: lambda f, node: v.Range(f.value(node.low), f.value(node.high), node.inclusive),
        ast.Pipe: lambda f, node: f.value(node.target),
        ast.FieldAccess: lambda f, node: part(f.value(node.receiver), f.analysis.fields[node]),
    }
)


@evaluates(ast.StructLit)
def struct(f: Frame, node: ast.StructLit) -> v.Value:
    """The fields as written, then `..base`, then the defaults."""
    symbol = f.analysis.uses[node.path]
    assert isinstance(symbol, sym.StructSymbol | sym.VariantSymbol)
    given: dict[str, v.Value] = {}
    for init in node.fields:
        if init.value is not None:
            given[init.name.text] = f.value(init.value)
        else:
            given[init.name.text] = f.coerced(init, read(f, f.analysis.uses[init]))
    base = None if node.base is None else f.value(node.base)
    for field in symbol.fields:
        if field.name not in given:
            given[field.name] = f.run.default(field.default) if base is None else base.parts[field.index]
    return v.Data(symbol, *(given[field.name] for field in symbol.fields))


@evaluates(ast.Path)
def path(f: Frame, node: ast.Path) -> v.Value:
    if node in f.analysis.calls:
        return call(f, node)
    symbol = f.analysis.uses[node]
    return function_value(f, node, symbol) if isinstance(symbol, sym.FunctionSymbol) else read(f, symbol)


def read(f: Frame, symbol: sym.Symbol) -> v.Value:
    match symbol:
        case sym.LocalSymbol():
            return f.locals[symbol]
        case sym.ConstSymbol():
            return constant(symbol.value, symbol.type)
        case sym.VariantSymbol(fields=[], named=False):
            return v.Data(symbol)
        case sym.VariantSymbol() | sym.StructSymbol():
            return partial(v.Data, symbol)
        case sym.BuiltinSymbol(name="None"):
            return v.NONE
        case sym.BuiltinSymbol():
            return partial(v.Data, symbol.name)
        case sym.StateSymbol() | sym.ToolSymbol():
            return f.run.handle(symbol)
        case _:
            raise v.Unsupported(f"{type(symbol).__name__} as a value")


@evaluates(ast.Unary)
def unary(f: Frame, node: ast.Unary) -> v.Value:
    if node.op == "-" and isinstance(node.operand, ast.IntLit):
        # The lowest Int has no positive counterpart that could be negated.
        return f.coerced(node.operand, checked(-node.operand.value))
    value = f.value(node.operand)
    if node.op == "-":
        return _operation(f, node, "-", value)
    return -1 - value if value.__class__ is int else not boolean(value)


def boolean(value: v.Value) -> bool:
    v.demand(isinstance(value, bool), f"expected `Bool`, found `{v.type_name(value)}`", "TypeError")
    return bool(value)


@evaluates(ast.Binary)
def binary(f: Frame, node: ast.Binary) -> v.Value:
    left = f.value(node.left)
    match node.op:
        case "&&":
            return boolean(left) and boolean(f.value(node.right))
        case "||":
            return boolean(left) or boolean(f.value(node.right))
        case "??" if left is v.NONE or left is None:
            return f.value(node.right)
        case "??":
            # With an Option on the right that holds as much as the one on the left, it stays an Option.
            found = f.analysis.types[node.left]
            stays = option_item(found) is not None and f.analysis.types[node] == found
            return left if stays or not isinstance(left, v.Data) or left.kind != "Some" else left.parts[0]
    right = f.value(node.right)
    match node.op:
        case "==" | "!=":
            return v.equal(left, right) is (node.op == "==")
        case "<" | "<=" | ">" | ">=":
            return v.compare(node.op, left, right)
        case _:
            return _operation(f, node, node.op, left, right)


def _operation(f: Frame, node: ast.Expr, op: str, *operands: v.Value) -> v.Value:
    """Of numbers and texts, or as an impl of the operand's type says."""
    if node in f.analysis.calls:
        return function_meant(f, node, f.analysis.calls[node])(*operands)
    return arithmetic(op, *operands) if len(operands) == 2 else negated(*operands)


@evaluates(ast.Cast)
def cast(f: Frame, node: ast.Cast) -> v.Value:
    value, target = f.value(node.operand), f.type_of(node)
    if value.__class__ is float and target is INT:
        return to_int(value)
    return float(value) if value.__class__ is int and target is FLOAT else converted(value, target)


@evaluates(ast.Index)
def index(f: Frame, node: ast.Index) -> v.Value:
    receiver = f.value(node.receiver)
    if isinstance(node.index, ast.RangeExpr):
        low, high = [None if end is None else f.value(end) for end in (node.index.low, node.index.high)]
        return slice_of(receiver, low, high, node.index.inclusive)
    if node in f.analysis.fields:
        return part(receiver, f.analysis.fields[node])
    return element(receiver, f.value(node.index))


@evaluates(ast.Closure)
def closure(f: Frame, node: ast.Closure) -> v.Value:
    # What it captures is what is there now: nothing that is assigned later reaches it.
    captured, type_ = dict(f.locals), f.type_of(node)
    gives_nothing = isinstance(type_, FunctionOf) and type_.result is NIL

    def invoke(*arguments: v.Value) -> v.Value:
        inner = Frame(f.run, f.types, captured)
        inner.take("function", node.parameters, arguments)
        result = inner.body(node.body)
        return None if gives_nothing else result

    return invoke


@evaluates(ast.Assign)
def assign(f: Frame, node: ast.Assign) -> v.Value:
    """The right side, then the place, then for `+=` and the like its old value."""
    value = f.value(node.value)
    place = place_of(f, node.target)
    place.put(value if node.op == "=" else _operation(f, node, node.op[:-1], place.get(), value))

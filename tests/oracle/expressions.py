"""Literals, names, operators and what is built from parts."""

from __future__ import annotations

from collections.abc import Iterable

from concerto.semantics.model import symbols as sym
from concerto.semantics.model.builtins import FLOAT, INT, NIL, OPTION
from concerto.semantics.model.symbols import FunctionOf, Named
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.access import element, part, place_of, slice_of
from tests.oracle.calls import call, function_value, operator_call
from tests.oracle.compare import compare, equal, make_map
from tests.oracle.constants import constant
from tests.oracle.fitting import converted
from tests.oracle.numbers import arithmetic, checked, negated, to_int
from tests.oracle.patterns import matches
from tests.oracle.run import EVALUATORS, Frame, Run, evaluates
from tests.oracle.state import state_of, tool_of
from tests.oracle.text import formatted, text_of


def _values(run: Run, nodes: Iterable[ast.Expr], frame: Frame) -> tuple[v.Value, ...]:
    return tuple([run.value(node, frame) for node in nodes])


def _range(run: Run, node: ast.RangeExpr, frame: Frame) -> v.Value:
    assert node.low is not None and node.high is not None
    return v.Range(run.value(node.low, frame), run.value(node.high, frame), node.inclusive)


EVALUATORS.update(
    {
        ast.IntLit: lambda run, node, frame: node.value,
        ast.FloatLit: lambda run, node, frame: node.value,
        ast.StringLit: lambda run, node, frame: node.value,
        ast.BoolLit: lambda run, node, frame: node.value,
        ast.NilLit: lambda run, node, frame: None,
        ast.Interpolation: lambda run, node, frame: "".join(
            [part if isinstance(part, str) else text_of(run.value(part, frame)) for part in node.parts]
        ),
        ast.Formatted: lambda run, node, frame: formatted(run.value(node.value, frame), node.format),
        ast.ArrayLit: lambda run, node, frame: _values(run, node.items, frame),
        ast.TupleLit: lambda run, node, frame: v.Tuple(_values(run, node.items, frame)),
        ast.MapLit: lambda run, node, frame: make_map(
            [(run.value(entry.key, frame), run.value(entry.value, frame)) for entry in node.entries]
        ),
        ast.RangeExpr: _range,
        ast.Pipe: lambda run, node, frame: run.value(node.target, frame),
        ast.FieldAccess: lambda run, node, frame: part(
            run.value(node.receiver, frame), run.analysis.fields[node]
        ),
        ast.Call: call,
        ast.MethodCall: call,
    }
)


@evaluates(ast.StructLit)
def struct(run: Run, node: ast.StructLit, frame: Frame) -> v.Value:
    """The fields as written, then `..base`, then the defaults."""
    symbol = run.analysis.uses[node.path]
    assert isinstance(symbol, sym.StructSymbol | sym.VariantSymbol)
    given = {init.name.text: _field_value(run, init, frame) for init in node.fields}
    base = None if node.base is None else run.value(node.base, frame)
    values = []
    for field in symbol.fields:
        if field.name in given:
            values.append(given[field.name])
        elif base is not None:
            values.append(base.fields[field.index])
        else:
            values.append(v.NONE if field.default is None else run.value(field.default, Frame({})))
    return v.made(symbol, tuple(values))


def _field_value(run: Run, init: ast.FieldInit, frame: Frame) -> v.Value:
    if init.value is not None:
        return run.value(init.value, frame)
    value = read(run, run.analysis.uses[init], frame)
    coercions = run.analysis.coercions.get(init, ())
    return run.coerced(init, value, coercions, frame)  # type: ignore[arg-type]


@evaluates(ast.Path)
def path(run: Run, node: ast.Path, frame: Frame) -> v.Value:
    if node in run.analysis.calls:
        return call(run, node, frame)
    symbol = run.analysis.uses[node]
    if isinstance(symbol, sym.FunctionSymbol):
        return function_value(run, node, symbol, frame)
    return read(run, symbol, frame)


def read(run: Run, symbol: object, frame: Frame) -> v.Value:
    match symbol:
        case sym.LocalSymbol():
            return frame.locals[symbol]
        case sym.ConstSymbol():
            return constant(run, symbol)
        case sym.VariantSymbol(fields=[], named=False):
            return v.Variant(symbol, ())
        case sym.VariantSymbol() | sym.StructSymbol():
            return v.Function(lambda *values: v.made(symbol, values))
        case sym.BuiltinSymbol(name="None"):
            return v.NONE
        case sym.BuiltinSymbol(name="Some" | "Ok" | "Err"):
            return v.Function({"Some": v.Some, "Ok": v.Ok, "Err": v.Err}[symbol.name])
        case sym.StateSymbol():
            return state_of(run, symbol)
        case sym.ToolSymbol():
            return tool_of(run, symbol)
        case _:
            raise v.Unsupported(f"{type(symbol).__name__} as a value")


@evaluates(ast.Unary)
def unary(run: Run, node: ast.Unary, frame: Frame) -> v.Value:
    if node.op == "-" and isinstance(node.operand, ast.IntLit):
        # The lowest Int has no positive counterpart that could be negated.
        return run.coerced(
            node.operand, checked(-node.operand.value), run.analysis.coercions.get(node.operand, ()), frame
        )
    value = run.value(node.operand, frame)
    if node.op == "-":
        return _operation(run, node, "-", [value], frame)
    if value.__class__ is int:
        return -1 - value
    return not _boolean(value, "!")


def _boolean(value: v.Value, sign: str) -> bool:
    if isinstance(value, bool):
        return value
    raise v.Failure(f"expected `Bool`, found `{v.type_name(value)}`", "TypeError")


@evaluates(ast.Binary)
def binary(run: Run, node: ast.Binary, frame: Frame) -> v.Value:
    op = node.op
    left = run.value(node.left, frame)
    match op:
        case "&&":
            return _boolean(left, op) and _boolean(run.value(node.right, frame), op)
        case "||":
            return _boolean(left, op) or _boolean(run.value(node.right, frame), op)
        case "??":
            return _coalesced(run, node, left, frame)
    right = run.value(node.right, frame)
    match op:
        case "==":
            return equal(left, right)
        case "!=":
            return not equal(left, right)
        case "<" | "<=" | ">" | ">=":
            return compare(op, left, right)
        case _:
            return _operation(run, node, op, [left, right], frame)


def _operation(run: Run, node: ast.Expr, op: str, operands: list[v.Value], frame: Frame) -> v.Value:
    """Of numbers and texts, or as an impl of the operand's type says."""
    if node in run.analysis.calls:
        return operator_call(run, node, operands, frame)
    return negated(operands[0]) if len(operands) == 1 else arithmetic(op, operands[0], operands[1])


def _coalesced(run: Run, node: ast.Binary, left: v.Value, frame: Frame) -> v.Value:
    if left is v.NONE or left is None:
        return run.value(node.right, frame)
    types = run.analysis.types
    found = types[node.left]
    # With an Option on the right that holds as much as the one on the left, the value stays an Option.
    stays = isinstance(found, Named) and found.symbol is OPTION and types[node] == found
    return left.value if isinstance(left, v.Some) and not stays else left


@evaluates(ast.Cast)
def cast(run: Run, node: ast.Cast, frame: Frame) -> v.Value:
    value = run.value(node.operand, frame)
    target = run.type_of(node, frame)
    if value.__class__ is float and target is INT:
        return to_int(value)
    if value.__class__ is int and target is FLOAT:
        return float(value)
    return converted(value, target)


@evaluates(ast.Index)
def index(run: Run, node: ast.Index, frame: Frame) -> v.Value:
    receiver = run.value(node.receiver, frame)
    if isinstance(node.index, ast.RangeExpr):
        ends = node.index
        low = None if ends.low is None else run.value(ends.low, frame)
        high = None if ends.high is None else run.value(ends.high, frame)
        return slice_of(receiver, low, high, ends.inclusive)
    if node in run.analysis.fields:
        return part(receiver, run.analysis.fields[node])
    return element(receiver, run.value(node.index, frame))


@evaluates(ast.Closure)
def closure(run: Run, node: ast.Closure, frame: Frame) -> v.Value:
    # What it captures is what is there now: nothing that is assigned later reaches it.
    captured = dict(frame.locals)

    def invoke(*arguments: v.Value) -> v.Value:
        if len(arguments) != len(node.parameters):
            raise v.Failure("`function` is called with a wrong number of arguments", "TypeError")
        inner = Frame(frame.types, dict(captured))
        for parameter, argument in zip(node.parameters, arguments, strict=True):
            inner.locals[run.analysis.parameters[parameter]] = argument
            if parameter.pattern is not None:
                matches(run, parameter.pattern, argument, inner)
        result = run.body(node.body, inner)
        return None if gives_nothing else result

    type_ = run.type_of(node, frame)
    gives_nothing = isinstance(type_, FunctionOf) and type_.result is NIL
    return v.Function(invoke)


@evaluates(ast.Assign)
def assign(run: Run, node: ast.Assign, frame: Frame) -> v.Value:
    """The right side, then the place, then for `+=` and the like its old value."""
    value = run.value(node.value, frame)
    place = place_of(run, node.target, frame)
    if node.op != "=":
        value = _operation(run, node, node.op[:-1], [place.get(), value], frame)
    place.put(value)
    return None

"""Does a value match a pattern, and what the pattern's names are then."""

from __future__ import annotations

from concerto.semantics.model import analysis as an
from concerto.syntax import ast
from tests.oracle.compare import compare, equal, is_number
from tests.oracle.constants import constant
from tests.oracle.run import Frame, Run
from tests.oracle.values import NONE, Err, Ok, Some, Struct, Tuple, Value, Variant

_WRAPPERS = {"Some": Some, "Ok": Ok, "Err": Err}


def matches(run: Run, node: ast.Pattern, value: Value, frame: Frame) -> bool:
    """Binds names as far as it gets."""
    match node:
        case ast.WildcardPattern():
            return True
        case ast.BindPattern():
            return _bind(run, node, value, frame)
        case ast.LiteralPattern():
            return equal(value, _literal(node.value))
        case ast.RangePattern():
            return _in_range(node, value)
        case ast.TuplePattern():
            return (
                isinstance(value, Tuple)
                and len(value.items) == len(node.items)
                and _all_match(run, node.items, value.items, frame)
            )
        case ast.ArrayPattern():
            return isinstance(value, tuple) and _array(run, node, value, frame)
        case ast.VariantPattern():
            return _variant(run, node, value, frame)
        case ast.StructPattern():
            return _struct(run, node, value, frame)
        case ast.OrPattern():
            return any(matches(run, each, value, frame) for each in node.alternatives)


def _all_match(run: Run, patterns: list[ast.Pattern], values: tuple[Value, ...], frame: Frame) -> bool:
    return all(matches(run, p, v, frame) for p, v in zip(patterns, values, strict=True))


def _bind(run: Run, node: ast.BindPattern, value: Value, frame: Frame) -> bool:
    target = run.analysis.patterns[node]
    if isinstance(target, an.MatchBinding):
        if node.pattern is not None and not matches(run, node.pattern, value, frame):
            return False
        frame.locals[target.local] = value
        return True
    return _is_target(run, target, value)


def _is_target(run: Run, target: object, value: Value) -> bool:
    match target:
        case an.MatchBuiltin(name="None"):
            return value is NONE
        case an.MatchBuiltin(name=name):
            return isinstance(value, _WRAPPERS[name])
        case an.MatchConst(const=const):
            return equal(value, constant(run, const))
        case an.MatchVariant(variant=variant):
            return isinstance(value, Variant) and value.symbol is variant
        case an.MatchStruct(struct=struct):
            return isinstance(value, Struct) and value.symbol is struct
        case _:
            raise AssertionError("a pattern of another kind")


def _literal(node: ast.Expr) -> Value:
    match node:
        case ast.Unary(operand=ast.IntLit(value=number) | ast.FloatLit(value=number)):
            return -number
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit():
            return node.value
        case _:
            return None


def _in_range(node: ast.RangePattern, value: Value) -> bool:
    low, high = _literal(node.low), _literal(node.high)
    if not (is_number(low) and is_number(value)) and low.__class__ is not value.__class__:
        return False
    return compare("<=", low, value) and compare("<=" if node.inclusive else "<", value, high)


def _array(run: Run, node: ast.ArrayPattern, value: tuple[Value, ...], frame: Frame) -> bool:
    items = node.items
    rest = next((i for i, item in enumerate(items) if isinstance(item, ast.RestPattern)), None)
    if rest is None:
        return len(value) == len(items) and _all_match(run, items, value, frame)  # type: ignore[arg-type]
    after = len(items) - rest - 1
    if len(value) < rest + after:
        return False
    middle = len(value) - after
    pattern = items[rest]
    target = run.analysis.patterns.get(pattern)
    if not _all_match(run, items[:rest], value[:rest], frame):  # type: ignore[arg-type]
        return False
    if isinstance(target, an.MatchBinding):
        frame.locals[target.local] = value[rest:middle]
    return _all_match(run, items[rest + 1 :], value[middle:], frame)  # type: ignore[arg-type]


def _variant(run: Run, node: ast.VariantPattern, value: Value, frame: Frame) -> bool:
    if not _is_target(run, run.analysis.patterns[node], value):
        return False
    if node.arguments is None:
        return True
    held = value.fields if isinstance(value, Variant | Struct) else (value.value,)
    return _all_match(run, node.arguments, held, frame)


def _struct(run: Run, node: ast.StructPattern, value: Value, frame: Frame) -> bool:
    if not _is_target(run, run.analysis.patterns[node], value):
        return False
    for part in node.fields:
        held = value.fields[run.analysis.pattern_fields[part].index]
        if part.pattern is not None:
            if not matches(run, part.pattern, held, frame):
                return False
        else:
            target = run.analysis.patterns[part]
            assert isinstance(target, an.MatchBinding)
            frame.locals[target.local] = held
    return True

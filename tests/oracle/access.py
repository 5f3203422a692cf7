"""Parts of values: how they are read, how a value looks with another part, places, patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from concerto.semantics.model import analysis as an
from concerto.semantics.model.symbols import LocalSymbol, StructSymbol, VariantSymbol
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.fitting import constant, converted
from tests.oracle.numbers import checked
from tests.oracle.text import text_of
from tests.oracle.values import Value, demand

if TYPE_CHECKING:
    from tests.oracle.run import Frame


def whole(index: Value) -> int:
    demand(index.__class__ is int, f"an index is an Int, found {v.type_name(index)}", "TypeError")
    return int(index)


def position(index: Value, length: int) -> int:
    inside = 0 <= whole(index) < length
    demand(inside, f"index {index} is out of bounds for length {length}", "IndexError")
    return int(index)


def element(value: Value, index: Value) -> Value:
    match value:
        case tuple() | str():
            return value[position(index, len(value))]
        case v.Data("Tuple", parts):
            return element(parts, index)
        case v.Map():
            v.check_key(index)
            return there(value, index)
        case _:
            raise v.Failure(f"{v.type_name(value)} cannot be indexed", "TypeError")


def there(map_: v.Map, key: Value) -> Value:
    found = map_.get(key)
    if found is v.NONE:
        raise v.Failure(f"the map has no key `{text_of(key)}`", "KeyError")
    return found.parts[0]


def with_element(value: Value, index: Value, item: Value) -> Value:
    match value:
        case tuple():
            at = position(index, len(value))
            return (*value[:at], item, *value[at + 1 :])
        case v.Data("Tuple", parts):
            return v.tuple_of(with_element(parts, index, item))
        case v.Map():
            return value.with_entry(index, item)
        case _:
            raise v.Failure(f"an element of {v.type_name(value)} cannot be assigned", "TypeError")


def slice_of(value: Value, low: Value, high: Value, inclusive: bool = False) -> Value:
    demand(isinstance(value, tuple | str), f"{v.type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else whole(low)
    end = length if high is None else checked(whole(high) + inclusive)
    if 0 <= start <= end <= length:
        return value[start:end]
    problem = "ends before it starts" if 0 <= end < start else f"is out of bounds for length {length}"
    raise v.Failure(f"the slice {start}..{end} {problem}", "IndexError")


def part(value: Value, target: an.FieldTarget) -> Value:
    if not isinstance(target, an.NamedMember):
        return value.parts[_slot(target)]
    if isinstance(value, v.Map):
        return element(value, target.name)
    found = _member(value, target.name)
    if found is None:
        raise v.Failure(f"{v.type_name(value)} has no member `{target.name}`", "TypeError")
    return part(value, found)


def with_part(value: Value, target: an.FieldTarget, item: Value) -> Value:
    if isinstance(target, an.NamedMember):
        if isinstance(value, v.Map):
            return with_element(value, target.name, item)
        found = _member(value, target.name)
        if found is None or v.is_error(value):
            message = f"member `{target.name}` of {v.type_name(value)} cannot be assigned"
            raise v.Failure(message, "TypeError")
        given = converted(item, found.field.type) if isinstance(found, an.SlotField) else item
        return with_part(value, found, given)
    if not isinstance(value, v.Tool):
        return v.Data(value.kind, *with_element(value.parts, _slot(target), item))
    value.parts[_slot(target)] = item
    return value


def _slot(target: an.SlotField | an.TupleItem) -> int:
    return target.field.index if isinstance(target, an.SlotField) else target.index


def _member(value: Value, name: str) -> an.SlotField | an.TupleItem | None:
    """What `.name` means of an Any that holds this value."""
    match value:
        case v.Data(StructSymbol() | VariantSymbol(named=True) as symbol):
            return next((an.SlotField(field) for field in symbol.fields if field.name == name), None)
        case v.Data("Tuple", parts) if name.isdigit() and int(name) < len(parts):
            return an.TupleItem(int(name))
        case _:
            return None


@dataclass(frozen=True)
class Place:
    get: Callable[[], Value]
    put: Callable[[Value], None]


def place_of(f: Frame, node: ast.Expr) -> Place:
    """The place that an expression names; the indices in it are evaluated, what stands there is not yet
    read."""
    match node:
        case ast.Path() if isinstance(symbol := f.analysis.uses.get(node), LocalSymbol):
            return Place(lambda: f.locals[symbol], lambda value: f.locals.update({symbol: value}))
        case ast.FieldAccess() | ast.Index() if node in f.analysis.fields:
            holder, target = place_of(f, node.receiver), f.analysis.fields[node]
            return Place(
                lambda: part(holder.get(), target),
                lambda value: holder.put(with_part(holder.get(), target, value)),
            )
        case ast.Index() if not isinstance(node.index, ast.RangeExpr):
            outer = place_of(f, node.receiver)
            # What is not there is missed before what follows is looked at.
            outer.get()
            index = f.value(node.index)
            return Place(
                lambda: element(outer.get(), index),
                lambda value: outer.put(with_element(outer.get(), index, value)),
            )
        case _:
            # A fresh value: what happens to it nobody sees.
            fresh = f.value(node)
            return Place(lambda: fresh, lambda value: None)


# --- Patterns ---


def matches(f: Frame, node: ast.Node, value: v.Value) -> bool:
    """Binds names as far as it gets."""
    match node:
        case ast.WildcardPattern():
            return True
        case ast.BindPattern():
            return (node.pattern is None or matches(f, node.pattern, value)) and _is_target(f, node, value)
        case ast.LiteralPattern():
            return v.equal(value, _literal(node.value))
        case ast.RangePattern():
            return _in_range(node, value)
        case ast.TuplePattern():
            return v.is_tuple(value) and _all_match(f, node.items, value.parts)
        case ast.ArrayPattern():
            return isinstance(value, tuple) and _array(f, node.items, value)
        case ast.RestPattern():
            return node not in f.analysis.patterns or _is_target(f, node, value)
        case ast.VariantPattern():
            whole = _is_target(f, node, value)
            return whole and (node.arguments is None or _all_match(f, node.arguments, value.parts))
        case ast.StructPattern():
            return _is_target(f, node, value) and all(
                matches(f, part.pattern or part, value.parts[f.analysis.pattern_fields[part].index])
                for part in node.fields
            )
        case ast.OrPattern():
            return any(matches(f, each, value) for each in node.alternatives)
        case _:
            return _is_target(f, node, value)


def _all_match(f: Frame, patterns: Sequence[ast.Node], values: Sequence[v.Value]) -> bool:
    return len(patterns) == len(values) and all(
        matches(f, p, part) for p, part in zip(patterns, values, strict=True)
    )


def _is_target(f: Frame, node: ast.Node, value: v.Value) -> bool:
    match f.analysis.patterns[node]:
        case an.MatchBinding(local):
            f.locals[local] = value
            return True
        case an.MatchConst(const):
            return v.equal(value, constant(const.value, const.type))
        case an.MatchBuiltin(kind) | an.MatchVariant(kind) | an.MatchStruct(kind):
            return isinstance(value, v.Data) and bool(value.kind == kind)


def _literal(node: ast.Expr) -> v.Value:
    match node:
        case ast.Unary(operand=ast.IntLit(value=number) | ast.FloatLit(value=number)):
            return -number
        case ast.IntLit() | ast.FloatLit() | ast.StringLit() | ast.BoolLit():
            return node.value
        case _:
            return None


def _in_range(node: ast.RangePattern, value: v.Value) -> bool:
    low, high = _literal(node.low), _literal(node.high)
    if not (v.is_number(low) and v.is_number(value)) and low.__class__ is not value.__class__:
        return False
    return v.compare("<=", low, value) and v.compare("<=" if node.inclusive else "<", value, high)


def _array(f: Frame, items: Sequence[ast.Node], value: tuple[v.Value, ...]) -> bool:
    """`..` takes what is left between those before and after it."""
    rest = next((i for i, item in enumerate(items) if isinstance(item, ast.RestPattern)), None)
    if rest is not None and len(value) >= len(items) - 1:
        end = len(value) - (len(items) - rest - 1)
        value = (*value[:rest], value[rest:end], *value[end:])
    return _all_match(f, items, value)

"""Parts of values: how they are read, and how a value looks with another part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from concerto.semantics.model import analysis as an
from concerto.semantics.model.analysis import FieldTarget
from concerto.semantics.model.symbols import LocalSymbol
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.compare import identity
from tests.oracle.fitting import converted
from tests.oracle.numbers import checked
from tests.oracle.run import Frame, Run
from tests.oracle.text import text_of
from tests.oracle.values import Value


def whole(index: v.Value) -> int:
    if index.__class__ is not int:
        raise v.Failure(f"an index is an Int, found {v.type_name(index)}", "TypeError")
    return int(index)


def position(index: v.Value, length: int) -> int:
    if not 0 <= whole(index) < length:
        raise v.Failure(f"index {index} is out of bounds for length {length}", "IndexError")
    return int(index)


def element(value: v.Value, index: v.Value) -> v.Value:
    match value:
        case tuple() | str():
            return value[position(index, len(value))]
        case v.Tuple():
            return element(value.items, index)
        case v.Map():
            entry = value.entries.get(_identity_of(index))
            if entry is None:
                raise missing(index)
            return entry[1]
        case _:
            raise v.Failure(f"{v.type_name(value)} cannot be indexed", "TypeError")


def _identity_of(key: v.Value) -> object:
    match key:
        case v.Struct() | v.Variant() if v.Own.method(key, "Eq") is not None:
            return identity(key)
        case v.Tuple(items=parts) | v.Struct(fields=parts) | v.Variant(fields=parts):
            pass
        case v.Some(value=part):
            parts = (part,)
        case str() | int() | v.NoneType():
            parts = ()
        case _:
            raise v.Failure(f"a map has no keys of type {v.type_name(key)}", "TypeError")
    for part in parts:
        _identity_of(part)
    return identity(key)


def missing(key: v.Value) -> v.Failure:
    return v.Failure(f"the map has no key `{text_of(key)}`", "KeyError")


def with_element(value: v.Value, index: v.Value, item: v.Value) -> v.Value:
    match value:
        case tuple():
            at = position(index, len(value))
            return (*value[:at], item, *value[at + 1 :])
        case v.Tuple():
            return v.Tuple(with_element(value.items, index, item))
        case v.Map():
            known = _identity_of(index)
            key, _ = value.entries.get(known, (index, None))
            return v.Map({**value.entries, known: (key, item)})
        case _:
            raise v.Failure(f"an element of {v.type_name(value)} cannot be assigned", "TypeError")


def slice_of(value: v.Value, low: v.Value, high: v.Value, inclusive: bool = False) -> v.Value:
    if not isinstance(value, tuple | str):
        raise v.Failure(f"{v.type_name(value)} cannot be sliced", "TypeError")
    length = len(value)
    start = 0 if low is None else whole(low)
    end = length if high is None else checked(whole(high) + inclusive)
    if 0 <= start <= end <= length:
        return value[start:end]
    if 0 <= end < start:
        raise v.Failure(f"the slice {start}..{end} ends before it starts", "IndexError")
    raise v.Failure(f"the slice {start}..{end} is out of bounds for length {length}", "IndexError")


def part(value: v.Value, target: an.FieldTarget) -> v.Value:
    match target:
        case an.SlotField():
            return value.fields[target.field.index]
        case an.TupleItem():
            return value.items[target.index]
        case an.NamedMember(name=name):
            if isinstance(value, v.Error) and name in value.fields:
                return value.fields[name]
            found = _member(value, name)
            if found is None:
                raise v.Failure(f"{v.type_name(value)} has no member `{name}`", "TypeError")
            return element(value, name) if isinstance(value, v.Map) else part(value, found)


def with_part(value: v.Value, target: an.FieldTarget, item: v.Value) -> v.Value:
    match target:
        case an.SlotField() if isinstance(value, v.Tool):
            value.fields[target.field.index] = item
            return value
        case an.SlotField():
            return type(value)(value.symbol, with_element(value.fields, target.field.index, item))
        case an.TupleItem():
            return with_element(value, target.index, item)
        case an.NamedMember(name=name):
            found = _member(value, name)
            if found is None:
                raise v.Failure(f"member `{name}` of {v.type_name(value)} cannot be assigned", "TypeError")
            if isinstance(value, v.Map):
                return with_element(value, name, item)
            given = converted(item, found.field.type) if isinstance(found, an.SlotField) else item
            return with_part(value, found, given)


def _member(value: v.Value, name: str) -> an.FieldTarget | None:
    """What `.name` means of an Any that holds this value; of a map it means the key."""
    match value:
        case v.Struct() | v.Variant() if isinstance(value, v.Struct) or value.symbol.named:
            found = [field for field in value.symbol.fields if field.name == name]
            return an.SlotField(found[0]) if found else None
        case v.Tuple() if name.isdigit() and int(name) < len(value.items):
            return an.TupleItem(int(name))
        case v.Map():
            return an.NamedMember(name)
        case _:
            return None


# --- Places ---


@dataclass(frozen=True)
class Place:
    get: Callable[[], Value]
    put: Callable[[Value], None]


def place_of(run: Run, node: ast.Expr, frame: Frame) -> Place:
    """The place that an expression names; the indices in it are evaluated, what stands there is not yet
    read."""
    match node:
        case ast.Path() if isinstance(run.analysis.uses.get(node), LocalSymbol):
            return _variable(frame, run.analysis.uses[node])
        case ast.FieldAccess():
            return _field(place_of(run, node.receiver, frame), run.analysis.fields[node])
        case ast.Index() if node in run.analysis.fields:
            return _field(place_of(run, node.receiver, frame), run.analysis.fields[node])
        case ast.Index() if not isinstance(node.index, ast.RangeExpr):
            holder = place_of(run, node.receiver, frame)
            # What is not there is missed before what follows is looked at.
            holder.get()
            index = run.value(node.index, frame)
            return Place(
                lambda: element(holder.get(), index),
                lambda value: holder.put(with_element(holder.get(), index, value)),
            )
        case _:
            # A fresh value: what happens to it nobody sees.
            fresh = run.value(node, frame)
            return Place(lambda: fresh, lambda value: None)


def _variable(frame: Frame, symbol: object) -> Place:
    assert isinstance(symbol, LocalSymbol)
    return Place(lambda: frame.locals[symbol], lambda value: frame.locals.__setitem__(symbol, value))


def _field(holder: Place, target: FieldTarget) -> Place:
    return Place(
        lambda: part(holder.get(), target), lambda value: holder.put(with_part(holder.get(), target, value))
    )

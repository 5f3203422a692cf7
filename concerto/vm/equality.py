"""Equality of values by content, as deep as they are.

Values of a class are compared by a function that is written for its fields (`Equalities`), which puts off
what is deeper than it may recur, and `equal` compares what was put off.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import eq
from types import FunctionType

from concerto.annotating import Any, ClassVar, TypeAlias
from concerto.ir.module import TypeDef
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.copying import code_of
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    NoneOption,
    Ok,
    Range,
    Some,
    Struct,
    TypeValue,
    Value,
    Variant,
    parts_of,
)

Pairs: TypeAlias = list[tuple[Value, Value]]
"""What is still to be compared, the next at the end."""

Same: TypeAlias = Callable[[Value, Value, int, Pairs], bool]
"""Whether two values, the first of the class, are equal but for what it adds to the pairs; it may recur so
deep."""

PLAIN = frozenset({int, float, str, bool, type(None), Range})
"""Types of which two values are equal if Python says so."""
_WRAPPERS = frozenset({Some, Ok, Err})
_FLAT = PLAIN | {list, tuple}
"""Types of contents that are looked at without a list of what is to be compared."""

_DEPTH = 40


def equal(a: Value, b: Value) -> bool:
    """Equality by content; an Int beside a Float is taken for a Float, a Bool equals no number."""
    kind = type(a)
    todo: Pairs = []
    if kind is type(b):
        if kind in PLAIN:
            return bool(a == b)
        same = getattr(kind, "same", None)
        if same is not None:
            if not same(a, b, _DEPTH, todo):
                return False
            if not todo:
                return True
            todo.reverse()
        elif kind in _WRAPPERS and type(a.value) in _FLAT:
            return equal(a.value, b.value)
        elif kind is list or kind is tuple:
            kinds = [*map(type, a)]
            if PLAIN.issuperset(kinds) and kinds == [*map(type, b)]:
                # Python takes a list with a NaN for equal to itself.
                return bool(a == b) and (float not in kinds or all(map(eq, a, b)))
        elif kind is Set:
            return bool(a.items.keys() == findable(b).keys())
    elif not isinstance(a, (int, float)) and getattr(kind, "own", None) is None:
        return False
    todo = todo or [(a, b)]
    while todo:
        a, b = todo.pop()
        kind = type(a)
        if kind is not type(b):
            if (kind is int and type(b) is float) or (kind is float and type(b) is int):
                # Python would compare them exactly.
                if float(a) != float(b):
                    return False
                continue
            if isinstance(a, Variant) and same_by_own(a, b, 0, todo):
                continue
            return False
        if kind in PLAIN:
            if a != b:
                return False
        else:
            known = len(todo)
            same = getattr(kind, "same", None)
            if not (_same_shape(a, b, todo) if same is None else same(a, b, _DEPTH, todo)):
                return False
            # The first parts are compared first: what an `impl Eq` does is seen.
            todo[known:] = reversed(todo[known:])
    return True


def is_found_by_python(wanted: Value, depth: int = 0) -> bool:
    """Whether Python's equality holds wherever that of the language does: a number of which Int and Float
    are the same, and what consists of such values, to a small depth."""
    kind = type(wanted)
    if kind is int:
        return bool(-_EXACT_FLOATS <= wanted <= _EXACT_FLOATS)
    if kind is float:
        return bool(-_EXACT_FLOATS < wanted < _EXACT_FLOATS)
    if kind is str or kind is bool:
        return True
    if depth > _COMPARED_DEPTH:
        return False
    if kind is tuple:
        return all(is_found_by_python(item, depth + 1) for item in wanted)
    if not isinstance(wanted, (Struct, Variant)) or (kind.own is not None and kind.own.equals is not None):
        return False
    return not kind.field_names or all(is_found_by_python(item, depth + 1) for item in kind.parts(wanted))


_COMPARED_DEPTH = 3

_EXACT_FLOATS = 2**53


def _same_shape(a: Value, b: Value, todo: Pairs) -> bool:
    """Compares two values of one Python type but for their parts, which are put on `todo`."""
    match a:
        case list() | tuple():
            if len(a) != len(b):
                return False
            todo.extend(zip(a, b, strict=True))
        case dict():
            if a.keys() != b.keys() or (a and not alike(next(iter(a)), next(iter(b)))):
                return False
            todo.extend((item, b[key]) for key, item in a.items())
        case Some() | Ok() | Err():
            todo.append((a.value, b.value))
        case Set():
            return bool(a.items.keys() == findable(b).keys())
        case Queue() | Stack():
            if len(a.items) != len(b.items):
                return False
            todo.extend(zip(a.items, b.items, strict=True))
        case ErrorValue():
            if (a.type_name, a.kind, a.message) != (b.type_name, b.kind, b.message):
                return False
            todo.append((a.fields, b.fields))
        case TypeValue():
            return bool(a.index == b.index)
        case _:
            return a is b
    return True


def alike(one: Value, other: Value) -> bool:
    """Whether two keys of maps are of one type, as far as they tell: Python takes true for 1."""
    kind = type(one)
    if kind is tuple:
        return type(other) is tuple and len(one) == len(other) and all(map(alike, one, other))
    if kind is Some and type(other) is Some:
        return alike(one.value, other.value)
    if isinstance(one, Struct | Variant):
        if kind is type(other) and (one.own is None or one.own.equals is None):
            return all(map(alike, parts_of(one), parts_of(other)))
        return isinstance(other, Struct | Variant) and one.type_name == other.type_name
    return _TYPES.get(kind, kind) is _TYPES.get(type(other), type(other))


_TYPES: dict[type, type] = {NoneOption: Some, Err: Ok}


class NaNKey:
    """Stands for one NaN, in keys of sets: equal to no other. `made`: whether there ever was one."""

    __slots__ = ()
    made: ClassVar[bool] = False

    def __init__(self) -> None:
        NaNKey.made = True


def findable(members: Set) -> dict[Value, Value]:
    """What a set may be found to have: an element with a NaN equals none, itself included."""
    if not NaNKey.made:
        return members.items
    return {key: item for key, item in members.items.items() if not _has_nan(key)}


def _has_nan(key: Hashable) -> bool:
    return any(map(_has_nan, key)) if isinstance(key, tuple | frozenset) else isinstance(key, NaNKey)


# --- Of classes -------------------------------------------------------------------------------------


class Equalities:
    """Makes what compares the values of each class of a program: at their first comparison, as most are never
    compared."""

    def __init__(self, types: Sequence[TypeDef]) -> None:
        self._types = types

    def of(self, fields: Sequence[int]) -> Same:
        """What compares the values of a class; `fields` are the types of its fields."""

        def same(a: Value, b: Value, depth: int, todo: Pairs) -> bool:
            kind = type(a)
            if kind.same is same:
                kind.same = staticmethod(self._written(fields, kind))
            return bool(kind.same(a, b, depth, todo))

        return same

    def _written(self, fields: Sequence[int], kind: Any) -> Same:
        lines = ["if a.__class__ is not b.__class__: return False"]
        if fields and kind.reflexive():
            lines.insert(0, "if a is b: return True")
        parts = [self._text(each, f"a.f{slot}", f"b.f{slot}") for slot, each in enumerate(fields)]
        if any("todo" in part for part in parts):
            lines += ["if not depth:", " todo.append((a, b))", " return True", "depth -= 1"]
        lines.append(f"return {' and '.join(parts) or 'True'}")
        code = code_of("same(a, b, depth, todo)", *[f" {line}" for line in lines])
        return FunctionType(code.replace(), _NAMES)

    def _text(self, index: int, one: str, other: str, level: int = 0) -> str:
        """Whether two values of a type are equal, as an expression."""
        of = self._types[index]
        if self._is_exact(index):
            return f"{one} == {other}"
        x, y = f"x{level}", f"y{level}"
        match of.kind:
            case "builtin" if of.name == "Float":
                return f"{one} == {other}"
            case "struct" | "schema" | "enum":
                return f"{one}.same({one}, {other}, depth, todo)"
            case "option":
                inner = self._text(of.items[0], f"{one}.value", f"{other}.value", level)
                return f"({one} is {other} is NONE or ({one} is not NONE is not {other} and {inner}))"
            case "tuple":
                parts = [
                    self._text(each, f"{one}[{place}]", f"{other}[{place}]", level)
                    for place, each in enumerate(of.items)
                ]
                return f"({' and '.join(parts)})"
            case "array" if self._types[of.items[0]].kind in _DECLARED:
                return f"same_items({one}, {other}, depth, todo)"
            case "array":
                inner = self._text(of.items[0], x, y, level + 1)
                return f"(len({one}) == len({other}) and all({inner} for {x}, {y} in zip({one}, {other})))"
            case "map" if self._is_exact(of.items[0]):
                if self._types[of.items[1]].kind in _DECLARED:
                    return f"same_entries({one}, {other}, depth, todo)"
                inner = self._text(of.items[1], x, f"{other}[{y}]", level + 1)
                every = f"all({inner} for {y}, {x} in {one}.items())"
                return f"({one}.keys() == {other}.keys() and {every})"
        return f"later({one}, {other}, todo)"

    def _is_exact(self, index: int) -> bool:
        """Whether Python compares values of a type as the language does, itself."""
        of = self._types[index]
        match of.kind:
            case "builtin":
                return of.name in _EXACT
            case "literals":
                return len({type(each) for each in of.literals}) == 1
            case "range":
                return True
            case "array" | "tuple" | "map":
                return all(map(self._is_exact, of.items))
            case _:
                return False


_EXACT = frozenset({"Int", "String", "Bool", "Nil"})
_DECLARED = frozenset({"struct", "schema", "enum"})


def _later(one: Value, other: Value, todo: Pairs) -> bool:
    """Compare values whose types only they tell, now if that is quick."""
    kind = type(one)
    if kind is type(other) and kind in PLAIN:
        return bool(one == other)
    todo.append((one, other))
    return True


def _same_items(one: list[Value], other: list[Value], depth: int, todo: Pairs) -> bool:
    return len(one) == len(other) and all(a.same(a, b, depth, todo) for a, b in zip(one, other, strict=True))


def _same_entries(one: dict[Value, Value], other: dict[Value, Value], depth: int, todo: Pairs) -> bool:
    return one.keys() == other.keys() and all(a.same(a, other[key], depth, todo) for key, a in one.items())


_NAMES: dict[str, Any] = {
    "NONE": NONE, "later": _later, "same_items": _same_items, "same_entries": _same_entries,
}  # fmt: skip


def same_by_own(a: Value, b: Value, depth: int, todo: Pairs) -> bool:
    """Whether two values are equal by an `impl Eq` of their type, if they are of one."""
    own = a.own
    if own is None or own.equals is None or not isinstance(b, Struct | Variant) or a.type_name != b.type_name:
        return False
    return bool(own.equals(a, b))

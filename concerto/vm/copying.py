"""Independent copies of values, deep as far as parts can change.

Values that never change are shared. A struct or variant whose type says how deep it can be is copied by a
function made for its class; all others by a walk that keeps its own stack, so that nesting has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from concerto.ir.module import TypeDef
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.values import Err, ErrorValue, NoneOption, Ok, Range, Some, Struct, TypeValue, Value, Variant

_SHARED = frozenset(
    {int, float, str, bool, type(None), Range, NoneOption, ErrorValue, TypeValue, FunctionType}
)
"""Types whose values never change, so that no copy is needed."""

_SHARED_KEYS = frozenset({str, int, bool, type(None)})
"""Of a map whose first key is one of these (or that has none), all keys are."""


def copy_value(value: Value) -> Value:
    """An independent value: no change of one can be seen through the other."""
    kind = type(value)
    if kind in _SHARED:
        return value
    if kind is list:
        if _SHARED.issuperset(map(type, value)):
            return value[:]
    elif kind is dict:
        if type(next(iter(value), None)) in _SHARED_KEYS and _SHARED.issuperset(map(type, value.values())):
            return value.copy()
    elif kind is tuple:
        if _SHARED.issuperset(map(type, value)):
            return value
    elif kind is Some or kind is Ok or kind is Err:
        if type(value.value) in _SHARED:
            return value
    elif isinstance(value, (Struct, Variant)):
        copied = kind.copied
        if copied is not None:
            return copied(value)
    return copy_parts(value)


def copy_parts(value: Value) -> Value:
    """A copy made without recursion."""
    pending: list[tuple[Value, Value]] = []
    result = _shell(value, pending)
    while pending:
        old, new = pending.pop()
        match old:
            case list():
                new += _items(old, pending)
            case dict():
                if type(next(iter(old), None)) not in _SHARED_KEYS:
                    for key, item in old.items():
                        new[copy_value(key)] = _shell(item, pending)
                elif _SHARED.issuperset(map(type, old.values())):
                    new.update(old)
                else:
                    for key, item in old.items():
                        new[key] = item if type(item) in _SHARED else _shell(item, pending)
            case Some() | Ok() | Err():
                new.value = _shell(old.value, pending)
            case Set():
                if _SHARED.issuperset(map(type, old.items.values())):
                    new.items.update(old.items)
                else:
                    new.items.update((key, _shell(item, pending)) for key, item in old.items.items())
            case Queue() | Stack():
                new.items.extend(_items(old.items, pending))
            case _:
                for slot in range(len(old.field_names)):
                    setattr(new, f"f{slot}", _shell(getattr(old, f"f{slot}"), pending))
    return result


def _items(items: Sequence[Value], pending: list[tuple[Value, Value]]) -> Sequence[Value]:
    kinds = {*map(type, items)}
    if kinds <= _SHARED:
        return items
    if len(kinds) == 1:
        (kind,) = kinds
        copied = getattr(kind, "copied", None)
        if copied is _itself:
            return items
        if copied is not None and copied is not copy_parts:
            return [*map(copied, items)]
    return [item if type(item) in _SHARED else _shell(item, pending) for item in items]


def _shell(value: Value, pending: list[tuple[Value, Value]]) -> Value:
    """The value if it can be shared, else a new one of its kind whose parts are still to come."""
    kind = type(value)
    if kind in _SHARED:
        return value
    if kind is tuple:
        return value if _SHARED.issuperset(map(type, value)) else tuple([copy_value(item) for item in value])
    make = _SHELLS.get(kind)
    if make is not None:
        new = make()
    elif isinstance(value, Struct) or (isinstance(value, Variant) and value.field_names):
        if kind.copied is not None and kind.copied is not copy_parts:
            return kind.copied(value)
        new = object.__new__(kind)
        if isinstance(value, Variant):
            new.tag = value.tag
    else:
        return value
    pending.append((value, new))
    return new


_SHELLS: dict[type, Callable[[], Value]] = {
    list: list, dict: dict, Set: Set, Queue: Queue, Stack: Stack,
    Some: lambda: Some(None), Ok: lambda: Ok(None), Err: lambda: Err(None),
}  # fmt: skip


def first_copy(
    types: Sequence[TypeDef], definition: TypeDef, fields: Sequence[int]
) -> Callable[[Value], Value]:
    """What copies the values of a class until its own function is made, at the first copy; `fields` are the
    types of its fields."""

    def copy(value: Value) -> Value:
        kind = type(value)
        if kind.copied is copy:
            kind.copied = staticmethod(_copier(types, definition, fields, kind))
        return kind.copied(value)

    return copy


def _copier(
    types: Sequence[TypeDef], definition: TypeDef, fields: Sequence[int], kind: Any
) -> Callable[[Value], Value]:
    if definition.kind == "enum" and (not fields or _never_changes(types, definition, ())):
        return _itself
    if not all(_is_bounded(types, types[each], (definition.name,)) for each in fields):
        return copy_parts
    changing = tuple(not _never_changes(types, types[each], ()) for each in fields)
    return FunctionType(_code(changing).replace(), {"made": kind, "copy_value": copy_value})


def _itself(value: Value) -> Value:
    return value


@lru_cache(maxsize=256)
def _code(changing: tuple[bool, ...]) -> CodeType:
    """Makes a value of the same class, with copies of the fields that can change."""
    parts = [f"copy_value(value.f{slot})" if each else f"value.f{slot}" for slot, each in enumerate(changing)]
    namespace: dict[str, Any] = {}
    exec(f"def copy(value): return made({', '.join(parts)})", namespace)
    code: CodeType = namespace["copy"].__code__
    return code


_PLAIN = frozenset({"Int", "Float", "String", "Bool", "Nil", "Never"})


def _never_changes(types: Sequence[TypeDef], of: TypeDef, seen: tuple[str, ...]) -> bool:
    """Whether no part of a value of the type can change."""
    match of.kind:
        case "literals" | "fn" | "range" | "error":
            return True
        case "builtin":
            return of.name in _PLAIN
        case "option" | "result" | "tuple":
            return all(_never_changes(types, types[each], seen) for each in of.items)
        case "enum":
            fields = [field.type for variant in of.variants for field in variant.fields]
            inner = (*seen, of.name)
            return of.name in seen or all(_never_changes(types, types[each], inner) for each in fields)
        case _:
            return False


def _is_bounded(types: Sequence[TypeDef], of: TypeDef, around: tuple[str, ...]) -> bool:
    """Whether values of the type have a depth that the type says."""
    if of.kind == "param" or of.name == "Any" or (of.kind in _DECLARED and of.name in around):
        return False
    inner = (*around, of.name) if of.kind in _DECLARED else around
    fields = [*of.fields, *[field for variant in of.variants for field in variant.fields]]
    return all(
        _is_bounded(types, types[each], inner) for each in (*of.items, *[field.type for field in fields])
    )


_DECLARED = frozenset({"struct", "schema", "enum"})

"""Independent copies of values, deep as far as parts can change.

Values that never change are shared. A struct or variant whose type says how deep it can be is copied by a
function made for its class; all others by a walk that keeps its own stack below some depth, so that nesting
has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from types import CodeType, FunctionType

from concerto.annotating import Any
from concerto.ir.module import Function, TypeDef
from concerto.vm.collections import Queue, Set, Stack
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
)

SHARED = frozenset(
    {int, float, str, bool, type(None), Range, NoneOption, ErrorValue, TypeValue, FunctionType}
)
"""Types whose values never change, so that no copy is needed."""

_SHARED_KEYS = frozenset({str, int, bool, type(None)})
"""Of a map whose first key is one of these (or that has none), all keys are."""


_LISTS = {list}
_TUPLES = {tuple}


def copy_value(value: Value) -> Value:
    """An independent value: no change of one can be seen through the other."""
    kind = type(value)
    if kind in SHARED:
        return value
    if kind is list:
        if SHARED.issuperset(map(type, value)):
            return value[:]
        kinds = {*map(type, value)}
        if kinds in (_LISTS, _TUPLES) and SHARED.issuperset(map(type, chain.from_iterable(value))):
            return value[:] if kinds == _TUPLES else [item[:] for item in value]
        if len(kinds) == 1 or all(each in SHARED or _is_fixed(each) for each in kinds):
            copied = getattr(next(iter(kinds)), "copied", None) or copy_parts
            if copied is _itself:
                return value[:]
            if copied is not copy_parts:
                return [*map(copied, value)]
    elif kind is dict:
        if type(next(iter(value), None)) in _SHARED_KEYS:
            kinds = {*map(type, value.values())}
            if all(map(_is_fixed, kinds - SHARED)):
                return value.copy()
            if kinds == _LISTS and SHARED.issuperset(map(type, chain.from_iterable(value.values()))):
                return {key: item[:] for key, item in value.items()}
    elif kind is tuple:
        if SHARED.issuperset(map(type, value)):
            return value
    elif kind is Some or kind is Ok or kind is Err:
        inner = type(value.value)
        if inner in SHARED or _is_fixed(inner):
            return value
    elif kind is Set:
        if SHARED.issuperset(map(type, value.items.values())):
            return Set(value.items.copy())
    elif isinstance(value, (Struct, Variant)):
        copied = kind.copied
        if copied is not None:
            return copied(value)
    return _nested(value, _DEPTH)


def copy_general(value: Value, depth: int) -> Value:
    """A copy of a field whose class only the value tells, by recursion as deep as is left."""
    kind = type(value)
    if kind in SHARED:
        return value
    copied = getattr(kind, "copied", None)
    return copied(value, depth) if copied is not None and depth > 0 else copy_parts(value)


_DEPTH = 16
"""How deep arrays and maps are copied by recursion, which is faster than a stack of one's own."""


def _nested(value: Value, depth: int) -> Value:
    kind = type(value)
    if not depth or (kind is not list and kind is not dict):
        return copy_parts(value)
    if kind is list:
        return [item if type(item) in SHARED else _nested(item, depth - 1) for item in value]
    if type(next(iter(value), None)) not in _SHARED_KEYS:
        return copy_parts(value)
    new = value.copy()
    for key, item in value.items():
        if type(item) not in SHARED:
            new[key] = _nested(item, depth - 1)
    return new


def _is_fixed(kind: Any) -> bool:
    return getattr(kind, "copied", None) is _itself


def copy_parts(value: Value, depth: int = 0) -> Value:
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
                elif SHARED.issuperset(map(type, old.values())):
                    new.update(old)
                else:
                    for key, item in old.items():
                        kind = type(item)
                        shared = kind in SHARED or getattr(kind, "copied", None) is _itself
                        new[key] = item if shared else _shell(item, pending)
            case Some() | Ok() | Err():
                new.value = _shell(old.value, pending)
            case Set():
                if SHARED.issuperset(map(type, old.items.values())):
                    new.items.update(old.items)
                else:
                    new.items.update((key, _shell(item, pending)) for key, item in old.items.items())
            case Queue() | Stack():
                new.items.extend(_items(old.items, pending))
            case _:
                for slot in range(len(old.field_names)):
                    setattr(new, f"f{slot}", _shell(getattr(old, f"f{slot}"), pending))
    return result


def _recurs(copied: Callable[..., Value]) -> bool:
    """Whether a copy that a stack is kept for must not be made by a function."""
    return copied is copy_parts or hasattr(copied, "recurs")


def _items(items: Sequence[Value], pending: list[tuple[Value, Value]]) -> Sequence[Value]:
    kinds = {*map(type, items)}
    if kinds <= SHARED:
        return items
    if len(kinds) == 1:
        (kind,) = kinds
        copied = getattr(kind, "copied", None)
        if copied is _itself:
            return items
        if copied is not None and not _recurs(copied):
            return [*map(copied, items)]
    return [item if type(item) in SHARED else _shell(item, pending) for item in items]


def _shell(value: Value, pending: list[tuple[Value, Value]]) -> Value:
    """The value if it can be shared, else a new one of its kind whose parts are still to come."""
    kind = type(value)
    if kind in SHARED:
        return value
    if kind is tuple:
        return value if SHARED.issuperset(map(type, value)) else tuple([copy_value(item) for item in value])
    make = _SHELLS.get(kind)
    if make is not None:
        new = make()
    elif isinstance(value, Struct) or (isinstance(value, Variant) and value.field_names):
        if kind.copied is not None and not _recurs(kind.copied):
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


class Copies:
    """Makes what copies the values of each class of a program: at their first copy, as most are never copied.
    `functions` are all that can change values of these types, None if nobody knows them."""

    def __init__(self, types: Sequence[TypeDef], functions: Sequence[Function] | None) -> None:
        self._types = types
        self._functions = functions
        self._fixed: dict[int, bool] = {}

    @cached_property
    def _changed(self) -> frozenset[str | int] | None:
        """The names of the structs, or the numbers of the fields of any, that are assigned somewhere."""
        return None if self._functions is None else self._assigned(self._functions)

    def _assigned(self, functions: Sequence[Function]) -> frozenset[str | int] | None:
        found: set[str | int] = set()
        for function in functions:
            for instr in function.code:
                if instr[0] == "SET_FIELD_OF":
                    found.add(self._types[instr[2]].name)
                elif instr[0] == "SET_FIELD":
                    found.add(instr[1])
                elif instr[0] in _ASSIGN_ANY:
                    return None
        return frozenset(found)

    def are_shared(self, index: int) -> bool:
        """Whether a copy of a value of a type is the value itself."""
        if index not in self._fixed:
            self._fixed[index] = self._never_changes(self._types[index], ())
        return self._fixed[index]

    def of(self, definition: TypeDef, fields: Sequence[int]) -> Callable[..., Value]:
        """What copies the values of a class; `fields` are the types of its fields."""

        def copy(value: Value, depth: int = _DEPTH) -> Value:
            kind = type(value)
            if kind.copied is copy:
                kind.copied = staticmethod(self._copier(definition, fields, kind))
            return kind.copied(value, depth)

        return copy

    def _copier(self, definition: TypeDef, fields: Sequence[int], kind: Any) -> Callable[..., Value]:
        """All take how deep they may recur."""
        if definition.kind == "enum" and all(map(self.are_shared, fields)):
            return _itself
        if self._never_changes(definition, ()):
            return _itself
        recurs = not all(_is_bounded(self._types, self._types[each], (definition.name,)) for each in fields)
        given = ", depth - 1" if recurs else ""
        parts = [self.text(each, f"value.f{slot}", given=given) for slot, each in enumerate(fields)]
        text = f"made({', '.join(parts)})"
        if recurs and "copy_value(" in text:
            return copy_parts
        if recurs:
            text += " if depth else copy_parts(value)"
        names = {"made": kind, "copy_value": copy_value, "copy_parts": copy_parts, "Set": Set}
        names |= {"copy_general": copy_general, "NONE": NONE, "Some": Some}
        code = code_of(f"copy(value, depth={_DEPTH})", f" return {text}")
        copied = FunctionType(code.replace(), names, argdefs=(_DEPTH,))
        if recurs:
            copied.recurs = True  # type: ignore[attr-defined]
        return copied

    def is_written_once(self, index: int) -> bool:
        """Whether what is copied stands in `text` once."""
        return self._types[index].kind not in _WRITTEN_AGAIN

    def has_fixed_items(self, index: int) -> bool:
        """Whether it is an array whose elements never change."""
        return self._types[index].kind == "array" and self.are_shared(self._types[index].items[0])

    def is_of_items(self, index: int) -> bool:
        """Whether it is a set whose elements never change."""
        return self._types[index].kind == "set" and self.are_shared(self._types[index].items[0])

    def is_general(self, index: int) -> bool:
        """Whether only the value tells how it is copied."""
        return self._types[index].kind == "param" or self._types[index].name == "Any"

    def text(self, index: int, text: str, depth: int = 0, given: str = "") -> str:
        """An expression for a copy of a value of a type; `given` is what else functions of classes take."""
        of = self._types[index]
        if self.are_shared(index):
            return text
        fixed = [self.are_shared(each) for each in of.items]
        item = f"x{depth}"
        match of.kind:
            case "array" if all(fixed):
                return f"{text}[:]"
            case "array":
                return f"[{self.text(of.items[0], item, depth + 1, given)} for {item} in {text}]"
            case "map" if all(fixed):
                return f"{text}.copy()"
            case "map" if fixed[0]:
                copied = self.text(of.items[1], item, depth + 1, given)
                return f"{{k{depth}: {copied} for k{depth}, {item} in {text}.items()}}"
            case "set" if all(fixed):
                return f"Set({text}.items.copy())"
            case "option":
                copied = self.text(of.items[0], f"{text}.value", depth, given)
                return f"(NONE if {text} is NONE else Some({copied}))"
            case "struct" | "schema" | "enum":
                return f"{text}.copied({text}{given})"
            case _ if given and self.is_general(index):
                return f"copy_general({text}{given})"
        return f"copy_value({text})"

    def _never_changes(self, of: TypeDef, seen: tuple[str, ...]) -> bool:
        """Whether no part of a value of the type can change."""
        inner = (*seen, of.name)
        match of.kind:
            case _ if of.immutable:
                return True
            case "literals" | "fn" | "range" | "error":
                return True
            case "builtin":
                return of.name in _PLAIN
            case "option" | "result" | "tuple":
                return all(self._never_changes(self._types[each], seen) for each in of.items)
            case "enum":
                fields = [field.type for variant in of.variants for field in variant.fields]
            case "struct" | "schema" if self._is_assigned(of):
                return False
            case "struct" | "schema":
                fields = [field.type for field in of.fields]
            case _:
                return False
        return of.name in seen or all(self._never_changes(self._types[each], inner) for each in fields)

    def _is_assigned(self, of: TypeDef) -> bool:
        """Whether a field of a struct may be assigned somewhere."""
        changed = self._changed
        return changed is None or not changed.isdisjoint((of.name, *range(len(of.fields))))


_ASSIGN_ANY = frozenset({"REPLACE", "WITH_MEMBER"})


def _itself(value: Value, depth: int = 0) -> Value:
    return value


@lru_cache(maxsize=256)
def code_of(head: str, *lines: str) -> CodeType:
    """The code of a function; `replace()` of it gives a copy with caches of its own."""
    namespace: dict[str, Any] = {}
    exec("\n".join([f"def {head}:", *lines]), namespace)
    code: CodeType = namespace[head.partition("(")[0]].__code__
    return code


_PLAIN = frozenset({"Int", "Float", "String", "Bool", "Nil", "Never"})


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
_WRITTEN_AGAIN = _DECLARED | {"option"}

"""Quick readers of JSON: a function for each type, made when data is first read as it.

They read what has the plain form of a type and refuse all else, of which `json_values` decides. A type that
holds itself has none, nor has one whose data may have several forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from concerto.ir.module import FieldDef, TypeDef
from concerto.json_data import Json
from concerto.vm.arithmetic import INT_MAX, INT_MIN
from concerto.vm.classes import ClassTable
from concerto.vm.values import NONE, Some, Value
from concerto.well_formed import well_formed

Reads: TypeAlias = Callable[[Json], Value]

_MOST_AROUND = 50
"""Types in one another."""


class Refused(Exception):
    """The data has not the plain form of the type, which need not be wrong."""


def quick_reader(classes: ClassTable, type_index: int, around: frozenset[int] = frozenset()) -> Reads | None:
    """The reader of a type of these classes, if it has one. `around` are the types that it is a part of."""
    if type_index in around or len(around) > _MOST_AROUND:
        return None
    if type_index not in classes.readers:
        classes.readers[type_index] = _reader(classes, classes.types[type_index], around | {type_index})
    return classes.readers[type_index]


def _reader(classes: ClassTable, definition: TypeDef, around: frozenset[int]) -> Reads | None:
    match definition.kind:
        case "builtin":
            return _PLAIN.get(definition.name)
        case "option":
            inner = quick_reader(classes, definition.items[0], around)
            return None if inner is None else _option(inner)
        case "array":
            inner = quick_reader(classes, definition.items[0], around)
            return None if inner is None else _array(inner)
        case "map" if len(definition.items) == 2 and _is_text(classes.types[definition.items[0]]):
            inner = quick_reader(classes, definition.items[1], around)
            return None if inner is None else _map(inner)
        case "literals" if all(type(literal) is str for literal in definition.literals):
            return _one_of({literal: literal for literal in definition.literals})
        case "enum" if not any(variant.fields for variant in definition.variants):
            variants = enumerate(definition.variants)
            return _one_of({each.name: classes.variant(definition.name, tag) for tag, each in variants})
        case "struct" | "schema" if not definition.positional:
            return _struct(classes, definition, around)
        case _:
            return None


def _is_text(definition: TypeDef) -> bool:
    return definition.kind == "builtin" and definition.name == "String"


def _text(data: Json) -> str:
    if type(data) is not str:
        raise Refused
    return data if data.isascii() else well_formed(data)


def _int(data: Json) -> int:
    if type(data) is not int or not INT_MIN <= data <= INT_MAX:
        raise Refused
    return data


def _float(data: Json) -> float:
    if type(data) is int and INT_MIN <= data <= INT_MAX:
        return float(data)
    if type(data) is not float:
        raise Refused
    return data


def _bool(data: Json) -> bool:
    if type(data) is not bool:
        raise Refused
    return data


_PLAIN: Final[dict[str, Reads]] = {
    "String": _text,
    "Prompt": _text,
    "Int": _int,
    "Float": _float,
    "Bool": _bool,
}


def _option(inner: Reads) -> Reads:
    def read(data: Json) -> Value:
        return NONE if data is None else Some(inner(data))

    return read


def _array(inner: Reads) -> Reads:
    def read(data: Json) -> Value:
        if type(data) is not list:
            raise Refused
        return [inner(item) for item in data]

    return read


def _map(inner: Reads) -> Reads:
    def read(data: Json) -> Value:
        if type(data) is not dict:
            raise Refused
        return {_text(key): inner(item) for key, item in data.items()}

    return read


def _one_of(values: dict[Any, Value]) -> Reads:
    def read(data: Json) -> Value:
        if type(data) is not str or data not in values:
            raise Refused
        return values[data]

    return read


def _struct(classes: ClassTable, definition: TypeDef, around: frozenset[int]) -> Reads | None:
    fields: list[tuple[str, Reads]] = []
    absent: dict[str, Callable[[], Value]] = {}
    for field in definition.fields:
        inner = quick_reader(classes, field.type, around)
        if inner is None:
            return None
        fields.append((field.name, inner))
        if field.has_default or classes.types[field.type].kind == "option":
            absent[field.name] = _default(field, inner)
    make: Callable[..., Value] = classes.struct(definition.name)
    names = {name for name, _ in fields}
    needed, count = names - absent.keys(), len(fields)

    def read(data: Json) -> Value:
        if type(data) is not dict:
            raise Refused
        try:
            values = [inner(data[name]) for name, inner in fields]
        except KeyError:
            if not names >= data.keys() >= needed:
                raise Refused from None
            values = [inner(data[name]) if name in data else absent[name]() for name, inner in fields]
        else:
            if len(data) != count:
                raise Refused
        return make(*values)

    return read


def _default(field: FieldDef, inner: Reads) -> Callable[[], Value]:
    """What a field has that is not in the data; made anew each time, because values may change."""
    return (lambda: inner(field.default)) if field.has_default else (lambda: NONE)

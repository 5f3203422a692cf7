"""Structured output: values of declared types from what a model wrote, `parse_schema`, `json::parse_as` and
structured replies.

A schema's `@coerce` and `@validate` hold wherever a value of it stands: at the top, in a field, in an array,
in place of a type parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from concerto.ir.module import Schema, TypeDef
from concerto.json_data import Json
from concerto.natives.errors import make_error
from concerto.natives.json_text import decode
from concerto.natives.lenient import Unreadable, read_leniently
from concerto.vm.collections import Queue, Stack
from concerto.vm.operations import parts_of, to_text
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Some, Struct, TypeValue, Value, Variant

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

Schemas: TypeAlias = Mapping[str, Schema]
"""By the name of their struct; the instantiations of a generic one share decorators."""


def parse_schema(machine: Machine, wanted: TypeValue, text: str) -> Value:
    """A Result: the value that the text means, or a SchemaError."""
    try:
        return Ok(read_value(machine, wanted.index, read_leniently(text).value))
    except Unreadable as unreadable:
        return Err(make_error("SchemaError", str(unreadable), "InvalidJson", raw=text))
    except Raised as raised:
        error = raised.value
        if not isinstance(error, ErrorValue) or error.type_name != "SchemaError":
            raise
    kind = "Invalid" if error.kind == "Invalid" else "Mismatch"
    return Err(make_error("SchemaError", error.message, kind, raw=text, path=error.fields.get("path", "")))


def read_value(machine: Machine, type_index: int, data: Json) -> Value:
    """JSON data as a value of a type, coerced and validated as its schemas say; raises a SchemaError."""
    types = machine.module.types
    schemas = {name: schema for schema in machine.module.schemas if (name := types[schema.type].name)}
    if any(schema.coerce or schema.coerced_fields for schema in schemas.values()):
        data = _coerced(data, type_index, types, schemas)
    own = schemas.get(types[type_index].name)
    value = machine.from_json(data, type_index, coerce=own is not None and own.coerce)
    if any(schema.validators for schema in schemas.values()):
        _validate(machine, schemas, value, "")
    return value


# --- Coercion -----------------------------------------------------------------------------------


def _coerced(data: Json, type_index: int, types: Sequence[TypeDef], schemas: Schemas) -> Json:
    """The data with the plain fields of coercing schemas coerced; what cannot be stays as it is."""
    definition = types[type_index]
    match definition.kind:
        case "struct" | "schema" if isinstance(data, dict):
            schema = schemas.get(definition.name)
            result = dict(data)
            for field in definition.fields:
                if field.name in data:
                    part = _coerced(data[field.name], field.type, types, schemas)
                    if schema is not None and (schema.coerce or field.name in schema.coerced_fields):
                        part = _coerced_plain(part, _plain_name(field.type, types))
                    result[field.name] = part
            return result
        case "array" | "set" | "queue" | "stack" if isinstance(data, list):
            return [_coerced(item, definition.items[0], types, schemas) for item in data]
        case "map" if isinstance(data, dict):
            return {key: _coerced(item, definition.items[1], types, schemas) for key, item in data.items()}
        case "option":
            return _coerced(data, definition.items[0], types, schemas)
        case _:
            return data


def _plain_name(type_index: int, types: Sequence[TypeDef]) -> str:
    """The name of a built-in type, Option taken away; empty for others."""
    definition = types[type_index]
    if definition.kind == "option":
        definition = types[definition.items[0]]
    return definition.name if definition.kind == "builtin" else ""


def _coerced_plain(data: Json, name: str) -> Json:
    """`"42"` for an Int, 42 for a String."""
    if name in ("Int", "Float", "Bool") and isinstance(data, str):
        try:
            return decode(data.strip().lower())
        except ValueError:
            return data
    if name in ("String", "Prompt") and isinstance(data, int | float):
        return to_text(data)
    return data


# --- Validation ---------------------------------------------------------------------------------


def _validate(machine: Machine, schemas: Schemas, value: Value, path: str) -> None:
    """Run the validators of all schema values in a value, of inner ones first."""
    match value:
        case Struct():
            schema = schemas.get(value.type_name)
            validators = schema.validators if schema is not None else ()
            for name, part in zip(value.field_names, parts_of(value), strict=True):
                place = f"{path}.{name}"
                _validate(machine, schemas, part, place)
                for _, function in (each for each in validators if each[0] == [name]):
                    _require(machine, function, part, place)
            for _, function in (each for each in validators if not each[0]):
                _require(machine, function, value, path)
        case _:
            for step, part in _parts(value):
                _validate(machine, schemas, part, f"{path}{step}")


def _require(machine: Machine, function: int, value: Value, path: str) -> None:
    """Ask a validator; what is absent is valid."""
    if value is NONE:
        return
    verdict = machine.call(function, [value.value if isinstance(value, Some) else value])
    if not (isinstance(verdict, Ok) and verdict.value is True):
        reason = to_text(verdict.value) if isinstance(verdict, Err) else "the value is not valid"
        raise Raised(make_error("SchemaError", reason, "Invalid", path=path.removeprefix(".")))


def _parts(value: Value) -> Iterator[tuple[str, Value]]:
    """What is in a value that is no struct, with the step of its path."""
    match value:
        case Some() | Ok() | Err():
            yield "", value.value
        case list() | tuple():
            yield from ((f"[{place}]", item) for place, item in enumerate(value))
        case Queue() | Stack():
            yield from ((f"[{place}]", item) for place, item in enumerate(value.items))
        case dict():
            yield from ((f".{key}", item) for key, item in value.items())
        case Variant():
            yield from ((".data", part) for part in parts_of(value))
        case _:
            return

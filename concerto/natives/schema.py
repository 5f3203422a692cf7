"""Values of declared types from what a model wrote: `parse_schema`, `json::parse_as` and structured replies.

A schema's `@coerce` and `@validate` hold wherever a value of it stands: at the top, in a field, in an array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from concerto.ir.module import Json, Schema, TypeDef
from concerto.natives.errors import make_error
from concerto.natives.json_text import decode
from concerto.natives.lenient import Unreadable, read_leniently
from concerto.vm.operations import parts_of, to_text
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Some, Struct, TypeValue, Value

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
        for part in _outermost(value):
            _validate(machine, schemas, part)
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


def _validate(machine: Machine, schemas: Schemas, value: Struct) -> None:
    """Run the validators of a struct, then of the structs in its containers. A schema's list of validators
    covers the structs that are its fields, but not those in arrays and options."""
    schema = schemas.get(value.type_name)
    for path, function in schema.validators if schema is not None else ():
        part = _part_at(value, path)
        verdict = machine.call(function, [part]) if part is not NONE else Ok(True)
        if not (isinstance(verdict, Ok) and verdict.value is True):
            reason = to_text(verdict.value) if isinstance(verdict, Err) else "the value is not valid"
            raise Raised(make_error("SchemaError", reason, "Invalid", path=".".join(path)))
    for inner in _in_containers(value):
        _validate(machine, schemas, inner)


def _part_at(value: Value, path: Sequence[str]) -> Value:
    """The value at a path of fields, NONE if an Option on the way is empty."""
    for name in path:
        if isinstance(value, Some):
            value = value.value
        if value is NONE:
            return NONE
        value = getattr(value, f"f{value.field_names.index(name)}")
    return value.value if isinstance(value, Some) else value


def _in_containers(value: Struct) -> Iterator[Struct]:
    for part in parts_of(value):
        if isinstance(part, Struct):
            yield from _in_containers(part)
        else:
            yield from _outermost(part)


def _outermost(value: Value) -> Iterator[Struct]:
    """The structs in a value that are not inside of another struct."""
    match value:
        case Struct():
            yield value
        case Some() | Ok() | Err():
            yield from _outermost(value.value)
        case list() | tuple():
            for item in value:
                yield from _outermost(item)
        case dict():
            for item in value.values():
                yield from _outermost(item)
        case _:
            return

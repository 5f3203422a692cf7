"""Reading a value of a declared type from what a model wrote: `parse_schema` and `json::parse_as`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from concerto.ir.module import Json, Schema
from concerto.natives.errors import make_error
from concerto.natives.json_text import decode
from concerto.natives.lenient import Unreadable, read_leniently
from concerto.vm.operations import to_text
from concerto.vm.values import NONE, Err, ErrorValue, Ok, Raised, Some, TypeValue, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


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
    """JSON data as a value of a type, coerced and validated as its schema says; raises a SchemaError."""
    schema = _schema_of(machine, type_index)
    if schema is None:
        return machine.from_json(data, type_index)
    if isinstance(data, dict) and not schema.coerce:
        for name in schema.coerced_fields:
            if name in data:
                data = data | {name: _coerced(data[name], _field_kind(machine, type_index, name))}
    value = machine.from_json(data, type_index, coerce=schema.coerce)
    for path, function in schema.validators:
        for part in _parts_at(value, path):
            _validate(machine, function, part, path)
    return value


def _schema_of(machine: Machine, type_index: int) -> Schema | None:
    for schema in machine.module.schemas:
        if schema.type == type_index:
            return schema
    return None


def _field_kind(machine: Machine, type_index: int, name: str) -> str:
    """The name of a field's plain type, Option taken away; empty if it has none."""
    types = machine.module.types
    for field in types[type_index].fields:
        if field.name == name:
            definition = types[field.type]
            if definition.kind == "option":
                definition = types[definition.items[0]]
            return definition.name if definition.kind == "builtin" else ""
    return ""


def _coerced(data: Json, kind: str) -> Json:
    """`"42"` for an Int; what cannot be coerced stays and is reported as it is."""
    if kind in ("Int", "Float", "Bool") and isinstance(data, str):
        try:
            return decode(data.strip().lower())
        except ValueError:
            return data
    if kind == "String" and isinstance(data, int | float):
        return to_text(data)
    return data


def _parts_at(value: Value, path: list[str]) -> Iterator[Value]:
    """The values at a path of fields: none behind an empty Option, several behind an array."""
    if isinstance(value, Some):
        yield from _parts_at(value.value, path)
    elif isinstance(value, list):
        for item in value:
            yield from _parts_at(item, path)
    elif not path:
        if value is not NONE:
            yield value
    elif path[0] in getattr(value, "field_names", ()):
        yield from _parts_at(getattr(value, f"f{value.field_names.index(path[0])}"), path[1:])


def _validate(machine: Machine, function: int, value: Value, path: list[str]) -> None:
    verdict = machine.call(function, [value])
    if isinstance(verdict, Ok) and verdict.value is True:
        return
    reason = to_text(verdict.value) if isinstance(verdict, Err) else "the value is not valid"
    raise Raised(make_error("SchemaError", reason, "Invalid", path=".".join(path)))

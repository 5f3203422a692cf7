"""Structured output: values of declared types from what a model wrote, `parse_schema`, `json::parse_as` and
structured replies.

A schema's `@coerce` and `@validate` hold wherever a value of it stands: at the top, in a field, in an array,
in place of a type parameter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from concerto.ir.module import TypeDef
from concerto.json_data import Json
from concerto.natives.directed import Director, Schemas, in_prose, is_word
from concerto.natives.errors import make_error
from concerto.natives.json_text import decode
from concerto.natives.lenient import CLOSED, Reading, Unreadable, distinct_readings, several
from concerto.vm.collections import Queue, Stack
from concerto.vm.operations import to_text
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    Ok,
    Raised,
    Some,
    Struct,
    TypeValue,
    Value,
    Variant,
    parts_of,
)

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_LISTS: Final = ("array", "set", "queue", "stack")
_OF_PARTS: Final = (*_LISTS, "struct", "schema", "enum")


def parse_schema(machine: Machine, wanted: TypeValue, text: str) -> Value:
    """A Result: the value that the text means, or a SchemaError."""
    try:
        return Ok(read_text(machine, wanted.index, text)[0])
    except Unreadable as unreadable:
        return Err(make_error("SchemaError", str(unreadable), "InvalidJson", raw=text))
    except Raised as raised:
        error = raised.value
        if not isinstance(error, ErrorValue) or error.type_name != "SchemaError":
            raise
    kind = "Invalid" if error.kind == "Invalid" else "Mismatch"
    return Err(make_error("SchemaError", error.message, kind, raw=text, path=error.fields.get("path", "")))


def read_text(
    machine: Machine, type_index: int, text: str, wrapper: str = ""
) -> tuple[Value, tuple[str, ...]]:
    """The one value of a type that a text means, and what was repaired to read it. It may stand as the only
    member, called `wrapper`, of an object. Raises Unreadable, or a SchemaError where what was read does not
    fit."""
    reader = SchemaReader(machine)
    try:
        data = _unwrapped(decode(text), wrapper)
    except ValueError as error:
        return _read_almost(reader, type_index, text, wrapper, str(error))
    try:
        value = reader.value(reader.coerced(data, type_index), type_index)
    except Raised:
        made = reader.directed(data, type_index)
        if reader.fits(made, type_index):
            return reader.checked(made, type_index), ("fitted to its type",)
        if not isinstance(data, str):
            raise
        return _read_almost(reader, type_index, data, wrapper, "")
    return reader.validated(value), ()


def _read_almost(
    reader: SchemaReader, type_index: int, text: str, wrapper: str, complaint: str
) -> tuple[Value, tuple[str, ...]]:
    """The one value in a text that is not JSON, as the `complaint` says, or that JSON gave in quotes."""
    unfit: list[Json] = [] if complaint else [text]
    lists: set[int] = set()

    def fit(reading: Reading) -> Reading | None:
        made = reader.directed(_unwrapped(reading.value, wrapper), type_index)
        if reader.fits(made, type_index):
            if isinstance(reading.value, list):
                lists.add(reading.start)
            return replace(reading, value=made)
        if made not in unfit and not (unfit and CLOSED in reading.repairs):
            unfit.append(made)
        return None

    found = distinct_readings(text, fit)
    if found:
        one = _joined(found, reader.types[type_index], lists)
        return reader.checked(one.value, type_index), one.repairs
    made = reader.directed(in_prose(text, type_index, reader.types), type_index)
    if reader.fits(made, type_index):
        return reader.checked(made, type_index), ("words around the value removed",)
    if not unfit:
        raise Unreadable(f"the reply is not JSON: {complaint}")
    if len(unfit) > 1:
        raise several(len(unfit))
    return reader.checked(unfit[0], type_index), ()


def read_value(machine: Machine, type_index: int, data: Json) -> Value:
    """JSON data as a value of a type, coerced and validated as its schemas say; raises a SchemaError."""
    reader = SchemaReader(machine)
    return reader.checked(reader.coerced(data, type_index), type_index)


def _unwrapped(data: Json, wrapper: str) -> Json:
    return data[wrapper] if wrapper and isinstance(data, dict) and set(data) == {wrapper} else data


def _joined(found: list[Reading], wanted: TypeDef, lists: set[int]) -> Reading:
    """The one reading; where a list is wanted, several that are no lists are one."""
    if len(found) == 1:
        return found[0]
    if wanted.kind not in _LISTS or lists:
        raise several(len(found))
    repairs = dict.fromkeys(repair for each in found for repair in each.repairs)
    return Reading([item for each in found for item in each.value], (*repairs, "several values joined"))


class SchemaReader:
    """Makes values of a program's types from data."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.types = types = machine.module.types
        self._aliased = any(each.aliases for each in types)
        self.schemas = {name: each for each in machine.module.schemas if (name := types[each.type].name)}

    def checked(self, data: Json, type_index: int) -> Value:
        """The value, validated; a SchemaError where there is none."""
        return self.validated(self.value(data, type_index))

    def validated(self, value: Value) -> Value:
        if any(schema.validators for schema in self.schemas.values()):
            _validate(self.machine, self.schemas, value, "")
        return value

    def fits(self, data: Json, type_index: int) -> bool:
        try:
            self.value(data, type_index)
        except Raised:
            return False
        return True

    @property
    def adjusts(self) -> bool:
        """Whether data may become a value without being one."""
        return self._aliased or any(each.coerce or each.coerced_fields for each in self.schemas.values())

    def coerced(self, data: Json, type_index: int) -> Json:
        """Data with what schemas coerce; all else as it is."""
        if not self.adjusts:
            return data
        director = Director(self.types, self.schemas, self.fits, lenient=False)
        return director.fitted(data, type_index, coerce=self.coerces(type_index))

    def directed(self, data: Json, type_index: int) -> Json:
        """Data in the form that the type has, where it can mean only that; an object may be around it."""
        director, coerce = self.director(), self.coerces(type_index)
        made = director.fitted(data, type_index, coerce=coerce)
        if isinstance(data, dict) and len(data) == 1 and not self.fits(made, type_index):
            (inner,) = data.values()
            word = is_word(self.types[type_index])
            if word or (isinstance(inner, dict | list) and self.types[type_index].kind in _OF_PARTS):
                inner = director.fitted(inner, type_index, coerce=coerce)
                return inner if self.fits(inner, type_index) else made
        return made

    def director(self) -> Director:
        return Director(self.types, self.schemas, self.fits, lenient=True)

    def value(self, data: Json, type_index: int) -> Value:
        return self.machine.from_json(data, type_index, coerce=self.coerces(type_index))

    def coerces(self, type_index: int) -> bool:
        own = self.schemas.get(self.types[type_index].name)
        return own is not None and own.coerce


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

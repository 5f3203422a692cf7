"""`std::json`: text to values and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from concerto.natives.errors import parse_error
from concerto.natives.json_text import decode
from concerto.natives.schema import parse_schema
from concerto.vm.json_values import to_json
from concerto.vm.native import native
from concerto.vm.values import Err, Ok, TypeValue, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::json::parse")
def parse(text: str) -> Value:
    try:
        return Ok(decode(text))
    except ValueError as error:
        return Err(parse_error(str(error), "InvalidJson"))


@native("std::json::parse_as", machine=True)
def parse_as(machine: Machine, wanted: TypeValue, text: str) -> Value:
    return parse_schema(machine, wanted, text)


@native("std::json::is_valid")
def is_valid(text: str) -> bool:
    try:
        decode(text)
    except ValueError:
        return False
    return True


@native("std::json::stringify")
def stringify(value: Value) -> str:
    return _compact(to_json(value))


@native("std::json::stringify_pretty")
def stringify_pretty(value: Value, indent: int = 2) -> str:
    if not 0 <= indent <= 16:
        raise failure(f"an indent is 0 to 16 spaces, found {indent}", "ValueError")
    return json.dumps(to_json(value), ensure_ascii=False, indent=indent, separators=(",", ": "))


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

"""`std::json`: text to values and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from concerto.natives.errors import parse_error
from concerto.natives.json_text import decode
from concerto.natives.schema import parse_schema
from concerto.vm.json_values import DEEPEST, to_json
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
    if type(value) in _NESTED and not _is_deep(value):
        try:
            return _compact_data(value)
        except (TypeError, ValueError, RecursionError):
            pass
    return _compact(to_json(value))


def _is_deep(data: Value) -> bool:
    """Whether arrays and maps may be nested too deeply to become JSON."""
    level, depth = [data], 0
    while level:
        depth += 1
        if depth >= DEEPEST:
            return True
        parts = [each.values() if type(each) is dict else each for each in level]
        level = [item for part in parts for item in part if type(item) in _NESTED]
    return False


@native("std::json::stringify_pretty")
def stringify_pretty(value: Value, indent: int = 2) -> str:
    if not 0 <= indent <= 16:
        raise failure(f"an indent is 0 to 16 spaces, found {indent}", "ValueError")
    return json.dumps(to_json(value), ensure_ascii=False, indent=indent, separators=(",", ": "))


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_compact_data = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False
).encode
"""The same of what is data already; it refuses what JSON has another form for."""
_NESTED = frozenset({dict, list, tuple})

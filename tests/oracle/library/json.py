"""JSON as text and as values."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from concerto.semantics.model import symbols as sym
from tests.oracle import values as v
from tests.oracle.compare import make_map
from tests.oracle.errors import make_error
from tests.oracle.text import text_of


def _parse(text: str) -> v.Value:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    def whole(digits: str) -> int | float:
        # Longer numbers than Python reads are too large in any case.
        number = int(digits) if len(digits) < 40 else 2**64
        return number if -(2**63) <= number < 2**63 else float(digits)

    try:
        return v.Ok(_as_any(json.loads(text, parse_constant=refuse, parse_int=whole)))
    except ValueError as error:
        return v.Err(make_error("ParseError", str(error), "InvalidJson"))


def _as_any(data: Any) -> v.Value:
    if isinstance(data, dict):
        return make_map((key, _as_any(item)) for key, item in data.items())
    return tuple(map(_as_any, data)) if isinstance(data, list) else data


def data_of(value: v.Value) -> Any:
    """The payload rules: an Option is its value or null, an enum its variant and data."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case None | int() | str():
            return value
        case v.NoneType():
            return None
        case tuple() | v.Tuple() | v.Queue() | v.Stack() | v.Set():
            return [data_of(item) for item in v.items_of(value) or ()]
        case v.Range():
            found = {"start": value.low, "end": value.high}
            found |= {"inclusive": True} if value.inclusive else {}
            return found | ({"step": value.step} if value.step != 1 else {})
        case v.Map():
            return {text_of(key): data_of(item) for key, item in value.entries.values()}
        case v.Some():
            return data_of(value.value)
        case v.Ok():
            return {"ok": data_of(value.value)}
        case v.Err():
            return {"err": data_of(value.value)}
        case v.Struct():
            return _object(value.symbol.fields, value.fields)
        case v.Variant():
            return {"variant": value.symbol.name, "data": _payload(value)}
        case v.Error():
            return {name: data_of(part) for name, part in value.fields.items()}
        case _:
            raise v.Failure(f"a value of type {v.type_name(value)} has no JSON form", "TypeError")


def _object(fields: Sequence[sym.FieldSymbol], values: Sequence[v.Value]) -> dict[str, Any]:
    return {field.name: data_of(part) for field, part in zip(fields, values, strict=True)}


def _payload(value: v.Variant) -> Any:
    if value.symbol.named:
        return _object(value.symbol.fields, value.fields)
    parts = [data_of(part) for part in value.fields]
    return parts[0] if len(parts) == 1 else parts or None


def _pretty(value: v.Value, indent: int) -> str:
    if not 0 <= indent <= 16:
        raise v.Failure(f"an indent is 0 to 16 spaces, found {indent}", "ValueError")
    return json.dumps(data_of(value), ensure_ascii=False, indent=indent)


PURE: v.Functions = {
    "std::json::parse": _parse,
    "String::parse_json": _parse,
    "std::json::is_valid": lambda text: isinstance(_parse(text), v.Ok),
    "std::json::stringify": lambda value: json.dumps(
        data_of(value), ensure_ascii=False, separators=(",", ":")
    ),
    "std::json::stringify_pretty": _pretty,
}

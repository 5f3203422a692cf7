"""The text of values, as `${}` and `print` show it, and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from concerto.semantics.model.symbols import StructSymbol, VariantSymbol
from tests.oracle import values as v
from tests.oracle.values import Data


def text_of(value: v.Value) -> str:
    return value if isinstance(value, str) else shown(value)


def formatted(value: v.Value, form: str) -> str:
    """As Python's, but a precision alone on a Float means decimals."""
    if isinstance(value, float) and "." in form and form[-1].isdigit():
        form += "f"
    try:
        return format(value, form)
    except TypeError:
        message = f"a value of type `{v.type_name(value)}` has no format `{form}`"
        raise v.Failure(message, "TypeError") from None


def shown(value: v.Value) -> str:
    """The text inside of another value: a String is quoted."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return '"' + "".join(map(_character, value)) + '"'
        case tuple() | Data("Queue" | "Stack"):
            return f"[{_listed(v.items_of(value) or ())}]"
        case Data("Tuple", parts):
            return f"({_listed(parts)}{',' if len(parts) == 1 else ''})"
        case Data(StructSymbol() | VariantSymbol()) if (own := v.Own.method(value, "Display")) is not None:
            return str(own())
        case Data() if v.is_error(value):
            return str(v.field(value, "message"))
        case Data(kind, parts):
            return _made(kind, parts)
        case v.Set():
            return f"{{{_listed(value.items())}}}"
        case v.Range():
            text = f"{value.low}..{'=' if value.inclusive else ''}{value.high}"
            return text if value.step == 1 else f"({text}).step_by({value.step})"
        case _ if isinstance(value, v.Map) or v.type_name(value) == "HashMap":
            return f"{{{', '.join(f'{shown(key)}: {shown(held)}' for key, held in value.pairs())}}}"
        case _ if callable(value):
            return "fn"
        case _:
            raise v.Unsupported(f"the text of a {v.type_name(value)}")


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _listed(items: Iterable[v.Value]) -> str:
    return ", ".join(map(shown, items))


def _made(kind: Any, parts: tuple[v.Value, ...]) -> str:
    match kind:
        case VariantSymbol():
            name, named = f"{kind.enum.name}::{kind.name}", kind.named
        case StructSymbol():
            name, named = kind.name, not kind.positional
        case _:
            name, named = kind, False
    if named:
        fields = ", ".join(f"{f.name}: {shown(part)}" for f, part in zip(kind.fields, parts, strict=True))
        return f"{name} {{ {fields} }}" if fields else f"{name} {{}}"
    return f"{name}({_listed(parts)})" if parts or isinstance(kind, StructSymbol) else str(name)


# --- JSON ---


def _parse(text: str) -> Data:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    def whole(digits: str) -> int | float:
        # Longer numbers than Python reads are too large in any case.
        number = int(digits) if len(digits) < 40 else 2**64
        return number if -(2**63) <= number < 2**63 else float(digits)

    try:
        return v.ok(_as_any(json.loads(text, parse_constant=refuse, parse_int=whole)))
    except ValueError as error:
        return v.err(v.make_error("ParseError", str(error), "InvalidJson"))


def _as_any(data: Any) -> v.Value:
    if isinstance(data, dict):
        return v.Map((key, _as_any(item)) for key, item in data.items())
    return tuple(map(_as_any, data)) if isinstance(data, list) else data


def data_of(value: v.Value) -> Any:
    """The payload rules: an Option is its value or null, an enum its variant and data."""
    match value:
        case None | Data("None"):
            return None
        case int() | float() | str():
            return None if isinstance(value, float) and not math.isfinite(value) else value
        case tuple() | v.Set():
            return list(map(data_of, v.items_of(value) or ()))
        case v.Range():
            found: dict[str, Any] = {"start": value.low, "end": value.high}
            found |= {"inclusive": True} if value.inclusive else {}
            return found | ({"step": value.step} if value.step != 1 else {})
        case v.Map():
            return {text_of(key): data_of(item) for key, item in value.pairs()}
        case Data("Some", (held,)):
            return data_of(held)
        case Data("Tuple" | "Queue" | "Stack", parts):
            return list(map(data_of, parts))
        case Data("Ok" | "Err" as kind, (held,)):
            return {kind.lower(): data_of(held)}
        case Data(kind, parts):
            fields = {field.name: data_of(part) for field, part in zip(kind.fields, parts, strict=True)}
            data = list(fields.values()) or [None]
            if isinstance(kind, StructSymbol):
                return fields
            return {"variant": kind.name, "data": fields if kind.named else data if data[1:] else data[0]}
        case _:
            raise v.Failure(f"a value of type {v.type_name(value)} has no JSON form", "TypeError")


def _json(value: v.Value, **form: Any) -> str:
    return json.dumps(data_of(value), ensure_ascii=False, **form)


def _pretty(value: v.Value, indent: int) -> str:
    v.demand(0 <= indent <= 16, f"an indent is 0 to 16 spaces, found {indent}")
    return _json(value, indent=indent)


PURE: v.Functions = {
    "std::json::parse": _parse,
    "String::parse_json": _parse,
    "std::json::is_valid": lambda text: _parse(text).kind == "Ok",
    "std::json::stringify": lambda value: _json(value, separators=(",", ":")),
    "std::json::stringify_pretty": _pretty,
}

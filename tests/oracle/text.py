"""The text of values, as `${}` and `print` show it."""

from __future__ import annotations

from tests.oracle.values import (
    Err,
    Error,
    Function,
    Map,
    NoneType,
    Ok,
    Queue,
    Range,
    Set,
    Some,
    Stack,
    Struct,
    Task,
    Tool,
    Tuple,
    Unsupported,
    Value,
    Variant,
)


def text_of(value: Value) -> str:
    return value if isinstance(value, str) else shown(value)


def shown(value: Value) -> str:
    """The text inside of another value: a String is quoted."""
    match value:
        case None:
            return "nil"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return quoted(value)
        case tuple():
            return f"[{_listed(value)}]"
        case Tuple():
            return f"({_listed(value.items)}{',' if len(value.items) == 1 else ''})"
        case Map():
            entries = ", ".join(f"{shown(key)}: {shown(held)}" for key, held in value.entries.values())
            return f"{{{entries}}}"
        case Set():
            return f"{{{_listed(tuple(value.entries.values()))}}}"
        case Queue() | Stack():
            return f"[{_listed(value.items)}]"
        case Some() | Ok() | Err():
            return f"{type(value).__name__}({shown(value.value)})"
        case NoneType():
            return "None"
        case Struct():
            names = [field.name for field in value.symbol.fields]
            return _record(value.symbol.name, names, value.fields)
        case Variant():
            return _variant(value)
        case Error():
            return str(value.fields["message"])
        case Range():
            return _range(value)
        case Function():
            return "fn"
        case Tool() | Task():
            raise Unsupported("the text of a handle")
        case _:
            return str(value)


def quoted(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def _listed(items: tuple[Value, ...]) -> str:
    return ", ".join(map(shown, items))


def _record(name: str, names: list[str], values: tuple[Value, ...]) -> str:
    if not names:
        return f"{name} {{}}"
    parts = ", ".join(f"{part}: {shown(value)}" for part, value in zip(names, values, strict=True))
    return f"{name} {{ {parts} }}"


def _variant(value: Variant) -> str:
    symbol = value.symbol
    name = f"{symbol.enum.name}::{symbol.name}"
    if symbol.named:
        return _record(name, [field.name for field in symbol.fields], value.fields)
    return f"{name}({_listed(value.fields)})" if value.fields else name


def _range(value: Range) -> str:
    text = f"{value.low}..{'=' if value.inclusive else ''}{value.high}"
    return text if value.step == 1 else f"({text}).step_by({value.step})"

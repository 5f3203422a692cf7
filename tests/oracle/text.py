"""The text of values, as `${}` and `print` show it."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle import values as v


def text_of(value: v.Value) -> str:
    return value if isinstance(value, str) else shown(value)


def formatted(value: v.Value, form: str) -> str:
    """As Python's, but a precision alone on a Float means decimals."""
    if isinstance(value, float) and "." in form and form[-1].isdigit():
        form += "f"
    try:
        return format(value, form)
    except TypeError:
        raise v.Failure(
            f"a value of type `{v.type_name(value)}` has no format `{form}`", "TypeError"
        ) from None


def shown(value: v.Value) -> str:
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
        case tuple() | v.Queue() | v.Stack():
            return f"[{_listed(v.items_of(value))}]"
        case v.Tuple():
            return f"({_listed(value.items)}{',' if len(value.items) == 1 else ''})"
        case v.Map():
            entries = ", ".join(f"{shown(key)}: {shown(held)}" for key, held in value.entries.values())
            return f"{{{entries}}}"
        case v.Set():
            return f"{{{_listed(v.items_of(value))}}}"
        case v.Some() | v.Ok() | v.Err():
            return f"{type(value).__name__}({shown(value.value)})"
        case v.NoneType():
            return "None"
        case v.Struct() | v.Variant() if (own := v.Own.method(value, "Display")) is not None:
            return str(own())
        case v.Struct() if value.symbol.positional:
            return f"{value.symbol.name}({_listed(value.fields)})"
        case v.Struct():
            names = [field.name for field in value.symbol.fields]
            return _record(value.symbol.name, names, value.fields)
        case v.Variant():
            return _variant(value)
        case v.Error():
            return str(value.fields["message"])
        case v.Range():
            return _range(value)
        case v.Function():
            return "fn"
        case _ if v.type_name(value) == "HashMap":
            return shown(v.Map({key: (key, held) for key, held in value.pairs()}))
        case _:
            raise v.Unsupported(f"the text of a {v.type_name(value)}")


def quoted(text: str) -> str:
    return '"' + "".join(map(_character, text)) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def _listed(items: Iterable[v.Value] | None) -> str:
    return ", ".join(map(shown, items or ()))


def _record(name: str, names: list[str], values: tuple[v.Value, ...]) -> str:
    if not names:
        return f"{name} {{}}"
    parts = ", ".join(f"{part}: {shown(value)}" for part, value in zip(names, values, strict=True))
    return f"{name} {{ {parts} }}"


def _variant(value: v.Variant) -> str:
    symbol = value.symbol
    name = f"{symbol.enum.name}::{symbol.name}"
    if symbol.named:
        return _record(name, [field.name for field in symbol.fields], value.fields)
    return f"{name}({_listed(value.fields)})" if value.fields else name


def _range(value: v.Range) -> str:
    text = f"{value.low}..{'=' if value.inclusive else ''}{value.high}"
    return text if value.step == 1 else f"({text}).step_by({value.step})"

"""Strings, which are sequences of code points, std::fmt and std::json."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable
from typing import Any

from concerto.semantics.model.symbols import StructSymbol
from tests.oracle import values as v
from tests.oracle.fitting import slice_of
from tests.oracle.numbers import at_least, size


def _to_digit(text: str, base: int) -> v.Data:
    v.demand(2 <= base <= 36, f"a base is from 2 to 36, found {base}")
    digits = (string.digits + string.ascii_lowercase)[:base]
    return v.first(at for at, digit in enumerate(digits) if digit == text.lower() and text.isascii())


def _one(text: str, what: str) -> str:
    v.demand(len(text) == 1, f"{what} one character, found `{_told(text)}`")
    return text


def _told(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"


def _every(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: text != "" and all(map(holds, text))


def _parsed(text: str, form: str, name: str, read: Callable[[str], v.Data]) -> v.Data:
    if re.fullmatch(form, text, re.IGNORECASE):
        return read(text)
    return v.err(v.make_error("ParseError", f"`{_told(text)}` is not {name}", f"Invalid{name.split()[1]}"))


def _as_int(text: str) -> v.Data:
    # Longer numbers than Python reads are out of range in any case.
    number = int(text) if len(text.lstrip("+-0")) < 40 else 2**64
    if -(2**63) <= number < 2**63:
        return v.ok(number)
    return v.err(v.make_error("ParseError", f"`{_told(text)}` does not fit in an Int", "OutOfRange"))


def _found(at: int, start: int = 0) -> v.Data:
    return v.NONE if at == -1 else v.some(start + at)


def _around(text: str, separator: str, at: int) -> v.Data:
    return v.NONE if at == -1 else v.some((text[:at], text[at:][len(separator) :]))


_TIMES = "a number of repetitions cannot be negative"
_FLOAT = r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?|nan)"
_METHODS: v.Functions = {
    "len": len, "is_empty": lambda text: text == "", "chars": list, "to_string": str,
    "lines": lambda text: text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else [],
    "trim": str.strip, "trim_start": str.lstrip, "trim_end": str.rstrip,
    "to_upper": str.upper, "to_lower": str.lower, "reverse": lambda text: text[::-1],
    "contains": str.__contains__, "starts_with": str.startswith, "ends_with": str.endswith,
    "split": lambda text, separator: text.split(separator) if separator else list(text),
    "split_once": lambda text, separator: _around(text, separator, text.find(separator)),
    "rsplit_once": lambda text, separator: _around(text, separator, text.rfind(separator)),
    "split_whitespace": str.split, "replace": str.replace, "slice": slice_of,
    "repeat": lambda text, n: text * (n if size(len(text) * at_least(0, n, _TIMES)) else 0),
    "index_of": lambda text, wanted, start: _found(slice_of(text, start, len(text)).find(wanted), start),
    "last_index_of": lambda text, wanted: _found(text.rfind(wanted)),
    "strip_prefix": lambda text, cut: v.some(text.removeprefix(cut)) if text.startswith(cut) else v.NONE,
    "strip_suffix": lambda text, cut: v.some(text.removesuffix(cut)) if text.endswith(cut) else v.NONE,
    "pad_left": lambda text, width, fill: text.rjust(size(width), _one(fill, "a padding is")),
    "pad_right": lambda text, width, fill: text.ljust(size(width), _one(fill, "a padding is")),
    "is_alphabetic": str.isalpha, "is_alphanumeric": str.isalnum,
    "is_uppercase": _every(str.isupper), "is_lowercase": _every(str.islower),
    "is_whitespace": str.isspace, "is_digit": _every(string.digits.__contains__),
    "to_digit": _to_digit, "code_point": lambda text: ord(_one(text, "`code_point` is of")),
    "from_code_point": lambda n: v.some(chr(n)) if 0 <= n < 0xD800 or 0xE000 <= n < 0x110000 else v.NONE,
    "parse_int": lambda text: _parsed(text, "[+-]?[0-9]+", "an Int", _as_int),
    "parse_float": lambda text: _parsed(text, _FLOAT, "a Float", lambda text: v.ok(float(text))),
}  # fmt: skip


def _format(template: str, values: v.Values) -> str:
    form = r"\{\{|\}\}|\{\}|[{}]"
    pieces, texts = re.findall(form, template), map(v.text_of, values)
    v.demand(not {"{", "}"}.intersection(pieces), "a brace in `format` is written `{{` or `}}`")
    places = pieces.count("{}")
    counted = [f"{n} {noun}{'s' * (n != 1)}" for n, noun in ((places, "place"), (len(values), "value"))]
    v.demand(places == len(values), f"`format` has {' for '.join(counted)}")
    return re.sub(form, lambda place: next(texts) if place[0] == "{}" else place[0][0], template)


def _truncate(text: str, length: int, ending: str) -> str:
    if len(text) <= at_least(0, length, "a length cannot be negative"):
        return text
    return text[: length - len(ending)] + ending if len(ending) <= length else ending[:length]


def _indent(text: str, spaces: int) -> str:
    space = " " * at_least(0, spaces, "a number of spaces cannot be negative")
    return "\n".join(space + line if line.strip() else line for line in text.split("\n"))


def _parse(text: str) -> v.Data:
    def refuse(name: str) -> Any:
        raise ValueError(f"`{name}` is not JSON")

    def whole(digits: str) -> int | float:
        read = _as_int(digits)
        return read.parts[0] if read.kind == "Ok" else float(digits)

    try:
        return v.ok(json.loads(text, parse_constant=refuse, parse_int=whole, object_pairs_hook=v.Map))
    except ValueError as error:
        return v.err(v.make_error("ParseError", str(error), "InvalidJson"))


def _payload(value: v.Value) -> Any:
    """What is not JSON's by itself: an Option is its value or null, an enum its variant and data."""
    match value:
        case v.Range():
            inclusive = {"inclusive": True} if value.inclusive else {}
            step = {"step": value.step} if value.step != 1 else {}
            return {"start": value.low, "end": value.high, **inclusive, **step}
        case v.Set() | v.Data("Queue" | "Stack"):
            return list(v.items_of(value) or ())
        case v.Map():
            return {v.text_of(key): item for key, item in value.pairs()}
        case v.Data("None" | "Some", parts):
            return parts[0] if parts else None
        case v.Data("Ok" | "Err" as kind, (held,)):
            return {kind.lower(): held}
        case v.Data(kind, parts):
            fields = {field.name: part for field, part in zip(kind.fields, parts, strict=True)}
            data = list(parts) if parts[1:] else v.first(parts)
            if isinstance(kind, StructSymbol):
                return fields
            return {"variant": kind.name, "data": fields if kind.named else data}
        case _:
            raise v.Failure(f"a value of type {v.type_name(value)} has no JSON form", "TypeError")


def _json(value: v.Value, indent: int | None = None) -> str:
    v.demand(indent is None or 0 <= indent <= 16, f"an indent is 0 to 16 spaces, found {indent}")
    # What is no number, as infinity, is null.
    data = json.loads(json.dumps(value, default=_payload), parse_constant=lambda name: None)
    compact = (",", ":") if indent is None else None
    return json.dumps(data, ensure_ascii=False, indent=indent, separators=compact)


PURE: v.Tables = {
    "String": {**_METHODS, "parse_json": _parse}, "std::string": _METHODS,
    "std::fmt": {
        "pad_left": _METHODS["pad_left"], "pad_right": _METHODS["pad_right"],
        "format": _format, "truncate": _truncate, "indent": _indent,
    },
    "std::prelude": {"format": _format},
    "std::json": {
        "parse": _parse, "is_valid": lambda text: _parse(text).kind == "Ok",
        "stringify": _json, "stringify_pretty": _json,
    },
}  # fmt: skip

"""JSON: as text, as values, and read as a declared type."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from concerto.semantics.model import builtins as b
from concerto.semantics.model import symbols as sym
from concerto.semantics.model.symbols import Literals, Named, TupleOf, Type
from concerto.syntax import ast
from tests.oracle import values as v
from tests.oracle.compare import make_map, make_set
from tests.oracle.errors import make_error
from tests.oracle.fitting import show, substitute
from tests.oracle.run import Frame, Run
from tests.oracle.text import text_of


def _decoded(text: str) -> Any:
    """Raises ValueError."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    def whole(digits: str) -> int | float:
        # Longer numbers than Python reads are too large in any case.
        number = int(digits) if len(digits) < 40 else None
        return number if number is not None and -(2**63) <= number < 2**63 else float(digits)

    try:
        return json.loads(text, parse_constant=refuse, parse_int=whole)
    except json.JSONDecodeError as error:
        raise ValueError(f"invalid JSON at line {error.lineno}: {error.msg}") from None


def _as_any(data: Any) -> v.Value:
    match data:
        case dict():
            return make_map((key, _as_any(item)) for key, item in data.items())
        case list():
            return tuple(map(_as_any, data))
        case _:
            return data


def _parse(text: str) -> v.Value:
    try:
        return v.Ok(_as_any(_decoded(text)))
    except ValueError as error:
        return v.Err(make_error("ParseError", str(error), "InvalidJson"))


def _is_valid(text: str) -> bool:
    return isinstance(_parse(text), v.Ok)


def _leniently(text: str) -> Any:
    """Data that stands somewhere in prose or a code fence, perhaps with a comma too many."""
    fenced = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    starts = [text[place.start() :] for place in re.finditer(r"[{\[]", text)]
    for candidate in [
        text,
        *fenced,
        *(s[: s.rfind(end) + 1] for s in starts for end in "}]"),
    ]:
        for attempt in (candidate, re.sub(r",(\s*[}\]])", r"\1", candidate)):
            try:
                return _decoded(attempt.strip())
            except ValueError:
                continue
    raise ValueError("the text holds no JSON")


def data_of(value: v.Value) -> Any:
    """The payload rules: an Option is its value or null, an enum its variant and data."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case tuple():
            return [data_of(item) for item in value]
        case v.Tuple() | v.Queue() | v.Stack():
            return [data_of(item) for item in value.items]
        case v.Set():
            return [data_of(item) for item in value.entries.values()]
        case v.Range():
            found = {"start": value.low, "end": value.high}
            found |= {"inclusive": True} if value.inclusive else {}
            return found | ({"step": value.step} if value.step != 1 else {})
        case v.Map():
            return {text_of(key): data_of(item) for key, item in value.entries.values()}
        case v.Some():
            return data_of(value.value)
        case v.NoneType():
            return None
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


def _stringify(value: v.Value) -> str:
    return json.dumps(data_of(value), ensure_ascii=False, separators=(",", ":"))


def _stringify_pretty(value: v.Value, indent: int) -> str:
    if not 0 <= indent <= 16:
        raise v.Failure(f"an indent is 0 to 16 spaces, found {indent}", "ValueError")
    return json.dumps(data_of(value), ensure_ascii=False, indent=indent)


class _Mismatch(Exception):
    def __init__(self, message: str, kind: str = "Mismatch") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.path = ""


def _read(run: Run, text: str, data: Any, type_: Type) -> v.Value:
    try:
        return v.Ok(_Reader(run).read(data, type_, coerce=False))
    except _Mismatch as mismatch:
        error = make_error("SchemaError", mismatch.message, mismatch.kind)
        error.fields.update(raw=text, path=mismatch.path.removeprefix("."))
        return v.Err(error)


class _Reader:
    def __init__(self, run: Run) -> None:
        self.run = run

    def at(self, step: str, data: Any, type_: Type, coerce: bool = False) -> v.Value:
        try:
            return self.read(data, type_, coerce)
        except _Mismatch as mismatch:
            mismatch.path = step + mismatch.path
            raise

    def read(self, data: Any, type_: Type, coerce: bool) -> v.Value:
        match type_:
            case b.ANY:
                return _as_any(data)
            case TupleOf() if isinstance(data, list) and len(data) == len(type_.items):
                parts = enumerate(zip(data, type_.items, strict=True))
                return v.Tuple(tuple(self.at(f"[{i}]", item, part) for i, (item, part) in parts))
            case Literals() if (_word(data), data) in type_.values:
                return data
            case Named(symbol=sym.StructSymbol(), arguments=arguments) if isinstance(data, dict):
                return self.struct(data, type_.symbol, arguments)  # type: ignore[arg-type]
            case Named(symbol=sym.EnumSymbol()):
                return self.variant(data, type_)
            case Named(arguments=()):
                return self.plain(data, type_, coerce)
            case Named():
                return self.collection(data, type_, coerce)
        raise _mismatch(data, type_)

    def plain(self, data: Any, type_: Type, coerce: bool) -> v.Value:
        if coerce:
            data = _coerced(data, type_)
        word = _word(data)
        if type_ is b.FLOAT and word == "Int":
            return float(data)
        if type_ is b.INT and word == "Float" and data.is_integer():
            return int(data)
        if word == show(type_) or (type_ is b.PROMPT and word == "String"):
            return data
        raise _mismatch(data, type_)

    def collection(self, data: Any, type_: Named, coerce: bool) -> v.Value:
        symbol, item = type_.symbol, type_.arguments[-1]
        if symbol is b.OPTION:
            return v.NONE if data is None else v.Some(self.read(data, item, coerce))
        if symbol is b.MAP and isinstance(data, dict):
            return make_map(
                (self.key(key, type_.arguments[0]), self.at(_step(key), part, item))
                for key, part in data.items()
            )
        if symbol in (b.ARRAY, b.SET, b.QUEUE, b.STACK) and isinstance(data, list):
            items = tuple(self.at(f"[{i}]", part, item) for i, part in enumerate(data))
            makers: dict[object, Callable[..., v.Value]] = {b.ARRAY: tuple, b.SET: make_set, b.QUEUE: v.Queue}
            return makers.get(symbol, v.Stack)(items)
        if symbol is b.RESULT and isinstance(data, dict) and len(data) == 1 and set(data) <= {"ok", "err"}:
            if "ok" in data:
                return v.Ok(self.at(".ok", data["ok"], type_.arguments[0]))
            return v.Err(self.at(".err", data["err"], item))
        raise _mismatch(data, type_)

    def key(self, key: str, type_: Type) -> v.Value:
        if type_ is b.INT and re.fullmatch("-?[0-9]+", key):
            return int(key)
        if type_ is b.BOOL and key in ("true", "false"):
            return key == "true"
        return self.at(_step(key), key, type_)

    def struct(self, data: dict[str, Any], symbol: sym.StructSymbol, arguments: Sequence[Type]) -> v.Value:
        coerce = _decorated(symbol.node, "coerce") is not None
        types = dict(zip(symbol.generics, arguments, strict=True))
        values = [self.field(data, field, substitute(field.type, types), coerce) for field in symbol.fields]
        value = v.Struct(symbol, tuple(values))
        for field, part in zip(symbol.fields, values, strict=True):
            if part is not v.NONE:
                self.validate(
                    field.node,
                    part.value if isinstance(part, v.Some) else part,
                    f".{field.name}",
                )
        self.validate(symbol.node, value, "")
        return value

    def field(self, data: dict[str, Any], field: sym.FieldSymbol, type_: Type, coerce: bool) -> v.Value:
        if field.name in data:
            own = coerce or _decorated(field.node, "coerce") is not None
            return self.at(f".{field.name}", data[field.name], type_, own)
        if field.default is not None:
            return self.run.value(field.default, Frame({}))
        if isinstance(type_, Named) and type_.symbol is b.OPTION:
            return v.NONE
        mismatch = _Mismatch(f"expected `{show(type_)}`, found nothing")
        mismatch.path = f".{field.name}"
        raise mismatch

    def variant(self, data: Any, type_: Named) -> v.Value:
        symbol = type_.symbol
        assert isinstance(symbol, sym.EnumSymbol)
        types = dict(zip(symbol.generics, type_.arguments, strict=True))
        name, held = data, None
        if isinstance(data, dict) and "variant" in data:
            name, held = data["variant"], data.get("data")
        found = symbol.by_name.get(name) if isinstance(name, str) else None
        if found is None:
            raise _mismatch(data, type_)
        fields = [substitute(field.type, types) for field in found.fields]
        if found.named and isinstance(held, dict):
            pairs = zip(found.fields, fields, strict=True)
            parts = [self.at(f".data.{field.name}", held.get(field.name), part) for field, part in pairs]
        elif len(fields) == 1:
            parts = [self.at(".data", held, fields[0])]
        elif not fields and held is None:
            parts = []
        elif isinstance(held, list) and len(held) == len(fields) > 1:
            parts = [self.at(f".data[{i}]", held[i], type_) for i, type_ in enumerate(fields)]
        else:
            raise _mismatch(held, type_)
        return v.Variant(found, tuple(parts))

    def validate(self, node: ast.Node | None, value: v.Value, step: str) -> None:
        decorator = _decorated(node, "validate")
        if decorator is None:
            return
        path = decorator.arguments[0].value
        assert isinstance(path, ast.Path)
        function = self.run.analysis.uses[path]
        assert isinstance(function, sym.FunctionSymbol)
        result = self.run.invoke(function, (value,), {})
        if isinstance(result, v.Err) or not result.value:
            message = result.value if isinstance(result, v.Err) else "the value is not valid"
            mismatch = _Mismatch(message, "Invalid")
            mismatch.path = step
            raise mismatch


def _decorated(node: ast.Node | None, name: str) -> ast.Decorator | None:
    decorators: list[ast.Decorator] = getattr(node, "decorators", [])
    return next((each for each in decorators if each.name.text == name), None)


def _coerced(data: Any, type_: Type) -> Any:
    """Text as the number or Bool that it spells, a number or Bool as text."""
    if isinstance(data, str) and type_ in (b.INT, b.FLOAT, b.BOOL):
        try:
            found = _decoded(data.strip())
        except ValueError:
            return data
        return found if isinstance(found, bool | int | float) else data
    return text_of(data) if type_ is b.STRING and isinstance(data, bool | int | float) else data


def _word(data: Any) -> str:
    names = {
        bool: "Bool",
        int: "Int",
        float: "Float",
        str: "String",
        list: "Array",
        dict: "Map",
    }
    return names.get(type(data), "Nil")


def _mismatch(data: Any, type_: Type) -> _Mismatch:
    return _Mismatch(f"expected `{show(type_)}`, found `{'null' if data is None else _word(data)}`")


def _step(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key, ensure_ascii=False)}]"


def _parse_as(run: Run, text: str, type_: Type) -> v.Value:
    return _reading(run, text, type_, _decoded)


def _parse_schema(run: Run, text: str, type_: Type) -> v.Value:
    return _reading(run, text, type_, _leniently)


def _reading(run: Run, text: str, type_: Type, decode: Any) -> v.Value:
    try:
        data = decode(text)
    except ValueError as error:
        failure = make_error("SchemaError", str(error), "InvalidJson")
        failure.fields["raw"] = text
        return v.Err(failure)
    return _read(run, text, data, type_)


WITH_RUN: v.Functions = {
    "std::json::parse_as": _parse_as,
    "std::prelude::parse_schema": _parse_schema,
}

PURE: v.Functions = {
    "std::json::parse": _parse,
    "String::parse_json": _parse,
    "std::json::is_valid": _is_valid,
    "std::json::stringify": _stringify,
    "std::json::stringify_pretty": _stringify_pretty,
}

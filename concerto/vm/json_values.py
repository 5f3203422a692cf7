"""JSON serialization of values and back: how payloads, tool arguments and structured replies cross the border
of the machine.

Option is its value or null, a Result `{"ok": …}` or `{"err": …}`, an enum `{"variant", "data"}`, a struct
an object, a tuple, set, queue or stack an array (a key the text of it), a range
`{"start", "end"}` with "inclusive" and "step" where they are said. Reading goes by a declared type; a
mismatch says where it is, and what else does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from concerto.annotating import Any
from concerto.ir.module import FieldDef, TypeDef, VariantDef
from concerto.json_data import Json
from concerto.vm.arithmetic import INT_MAX, INT_MIN
from concerto.vm.classes import ClassTable, build_variant
from concerto.vm.collections import Queue, Set, Stack
from concerto.vm.operations import hash_key, to_text, type_name
from concerto.vm.type_checks import Misfit, type_text
from concerto.vm.values import (
    NONE,
    Err,
    ErrorValue,
    Handle,
    NoneOption,
    Ok,
    Raised,
    Range,
    Some,
    Struct,
    TypeValue,
    Value,
    Variant,
    failure,
    parts_of,
)
from concerto.well_formed import well_formed

DEEPEST = 1000
"""Deeper data is refused in either direction."""

_MOST_MISFITS = 5
"""Beyond these it does not help to be told more."""

_AS_THEY_ARE = frozenset({type(None), bool, int, str})
_OF_JSON = _AS_THEY_ARE | {float, list, dict}


def to_json(value: Value) -> Json:
    """A value as JSON. A function has no JSON form, nor has what is nested too deeply: both are failures."""
    try:
        return _to_json(value, 0)
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> Raised:
    return failure("the value is nested too deeply to become JSON", "ValueError")


def _to_json(value: Value, depth: int) -> Json:
    if depth > DEEPEST:
        raise _too_deep()
    kind = type(value)
    if kind is dict:
        return {
            key if type(key) is str else _key_text(key): (
                item if type(item) in _AS_THEY_ARE else _to_json(item, depth + 1)
            )
            for key, item in value.items()
        }
    if kind is list or kind is tuple:
        return [item if type(item) in _AS_THEY_ARE else _to_json(item, depth + 1) for item in value]
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case NoneOption():
            return None
        case Some():
            return _to_json(value.value, depth + 1)
        case Ok():
            return {"ok": _to_json(value.value, depth + 1)}
        case Err():
            return {"err": _to_json(value.value, depth + 1)}
        case Struct(positional=True):
            return _positional_json(value, depth)
        case Struct():
            parts = zip(value.field_names, parts_of(value), strict=True)
            return {name: _to_json(part, depth + 1) for name, part in parts}
        case Variant():
            return {"variant": value.variant_name, "data": _payload_json(value, depth)}
        case Set():
            return [_to_json(item, depth + 1) for item in value.items.values()]
        case Queue() | Stack():
            return [_to_json(item, depth + 1) for item in value.items]
        case Range():
            return _range_json(value)
        case ErrorValue():
            own = {name: _to_json(part, depth + 1) for name, part in value.fields.items()}
            return {"message": value.message, "kind": value.kind, **own}
        case Handle() | TypeValue():
            return to_text(value)
        case _:
            raise failure(f"a value of type {type_name(value)} has no JSON form", "TypeError")


def _key_text(key: Value) -> str:
    """A key as JSON has it: text as it is, a variant without data by its name, what has one part and no name
    as that part, all else the text of its JSON."""
    if isinstance(key, Variant) and not key.field_names:
        return key.variant_name
    if isinstance(key, Struct) and key.positional and len(key.field_names) == 1:
        return _key_text(parts_of(key)[0])
    if type(key) in (str, int, bool):
        return to_text(key)
    import json

    return json.dumps(_to_json(key, 0), ensure_ascii=False, separators=(",", ":"))


def _range_json(value: Range) -> Json:
    made: dict[str, Json] = {"start": value.numbers.start, "end": value.high}
    if value.inclusive:
        made["inclusive"] = True
    if value.numbers.step != 1:
        made["step"] = value.numbers.step
    return made


def _payload_json(value: Variant, depth: int) -> Json:
    if value.named:
        parts = zip(value.field_names, parts_of(value), strict=True)
        return {name: _to_json(part, depth + 1) for name, part in parts}
    return _positional_json(value, depth)


def _positional_json(value: Struct | Variant, depth: int) -> Json:
    """What has no names: a single value as it is, several as an array."""
    parts = [_to_json(part, depth + 1) for part in parts_of(value)]
    if len(parts) == 1:
        return parts[0]
    return parts or None


def from_json(
    data: Json, type_index: int, types: Sequence[TypeDef], classes: ClassTable, *, coerce: bool = False
) -> Value:
    """JSON data as a value of a type; raises Misfit with the path to what does not fit."""
    from concerto.vm.json_readers import Refused, quick_reader  # Many programs read none.

    quick = quick_reader(classes, type_index) if types is classes.types else None
    if quick is not None:
        try:
            return quick(data)
        except Refused:
            pass
    try:
        try:
            return _Reader(types, classes, coerce).read(data, type_index, 0)
        except Misfit:
            return _Reader(types, classes, coerce, tells=True).read(data, type_index, 0)
    except RecursionError:
        raise Misfit(type_text(types, type_index), phrase="a value nested too deeply") from None


class _Reader:
    """Reads data that fits without asking where it is; only one that `tells` finds all that does not fit."""

    def __init__(
        self, types: Sequence[TypeDef], classes: ClassTable, coerce: bool, *, tells: bool = False
    ) -> None:
        self._tells = tells
        self._types = types
        self._classes = classes
        self._coerce = coerce

    def read(self, data: Json, type_index: int, depth: int) -> Value:
        definition = self._types[type_index]
        if type(data) not in _OF_JSON or (type(data) is dict and not all(type(key) is str for key in data)):
            data = _as_json(data)
        if depth > DEEPEST:
            raise Misfit(self._text(type_index), phrase="a value nested too deeply")
        match definition.kind:
            case "builtin":
                if type(data) is str and definition.name == "String" and data.isascii():
                    return data
                return self._plain(data, definition.name, type_index, depth)
            case "param":
                return plain_value(data)
            case "option":
                return NONE if data is None else Some(self.read(data, definition.items[0], depth + 1))
            case "array":
                return self._items(data, definition.items[0], type_index, depth)
            case "set":
                items = self._items(data, definition.items[0], type_index, depth)
                return Set({hash_key(item): item for item in items})
            case "queue":
                return Queue(self._items(data, definition.items[0], type_index, depth))
            case "stack":
                return Stack(self._items(data, definition.items[0], type_index, depth))
            case "tuple":
                return self._tuple(data, definition, type_index, depth)
            case "map" if len(definition.items) == 2:
                return self._map(data, definition, type_index, depth)
            case "result" if len(definition.items) == 2:
                return self._result(data, definition, type_index, depth)
            case "literals":
                return self._literal(data, definition, type_index)
            case "range":
                return self._range(data, type_index)
            case "struct" if definition.positional:
                parts = self._positional(data, definition.fields, self._text(type_index), "", depth)
                return self._classes.struct(definition.name)(*parts)
            case "struct" | "schema":
                fields = self._fields(data, definition.fields, type_index, depth)
                return self._classes.struct(definition.name)(*fields)
            case "enum":
                return self._enum(data, definition, type_index, depth)
            case "error":
                return self._error(data, definition.name, type_index)
            case _:
                raise self._misfit(type_index, data)

    def _text(self, type_index: int) -> str:
        return type_text(self._types, type_index)

    def _misfit(self, type_index: int, data: Json) -> Misfit:
        # What no Int holds may have been read as a Float, as which it may be the lowest Int.
        large = type(data) is int and not INT_MIN <= data <= INT_MAX
        if type(data) is float and self._types[type_index].name == "Int":
            large = not INT_MIN < data <= INT_MAX
        if large:
            return Misfit(self._text(type_index), phrase="a number that needs more than 64 bits")
        return Misfit(self._text(type_index), _found(data))

    def _plain(self, data: Json, name: str, type_index: int, depth: int) -> Value:
        kind = type(data)
        match name:
            case "Any":
                return plain_value(data)
            case "Int" if kind is int and INT_MIN <= data <= INT_MAX:
                return data
            # The lowest Int as a Float is also what smaller numbers are read as.
            case "Int" if kind is float and data.is_integer() and INT_MIN < data <= INT_MAX:
                return int(data)
            case "Float" if kind is float:
                return data
            case "Float" if kind is int:
                return _as_float(data)
            case "String" | "Prompt" if kind is str:
                return well_formed(data)
            case "Bool" if kind is bool:
                return data
            case "Nil" if data is None:
                return None
            case _ if self._coerce and kind in (str, int, float, bool):
                return self._coerced(data, name, type_index)
            case _:
                raise self._misfit(type_index, data)

    def _coerced(self, data: str | int | float | bool, name: str, type_index: int) -> Value:
        """`"42"` for an Int, `"true"` for a Bool, 42 for a String."""
        try:
            match name:
                case "Int" if isinstance(data, str) and INT_MIN <= int(data) <= INT_MAX:
                    return int(data)
                case "Float" if isinstance(data, str):
                    return float(data)
                case "Bool" if isinstance(data, str) and data.strip().lower() in ("true", "false"):
                    return data.strip().lower() == "true"
                case "String" | "Prompt":
                    return to_text(data)
                case _:
                    pass
        except ValueError:
            pass
        raise self._misfit(type_index, data)

    def _items(self, data: Json, item: int, type_index: int, depth: int) -> list[Value]:
        if not isinstance(data, list):
            raise self._misfit(type_index, data)
        if not self._tells:
            return [self.read(part, item, depth + 1) for part in data]
        return self._parts(((part, item, f"[{place}]") for place, part in enumerate(data)), depth)

    def _part(self, data: Json, type_index: int, step: str, depth: int) -> Value:
        try:
            return self.read(data, type_index, depth + 1)
        except Misfit as misfit:
            misfit.step(step)
            raise

    def _parts(self, parts: Iterable[tuple[Json, int, str]], depth: int) -> list[Value]:
        """Data of the given types at the given steps; what does not fit in several is told at once."""
        values: list[Value] = []
        misfits: list[Misfit] = []
        for data, type_index, step in parts:
            try:
                values.append(self._part(data, type_index, step, depth))
            except Misfit as misfit:
                misfits.append(misfit)
                if len(misfits) == _MOST_MISFITS:
                    break
        _raise_all(misfits)
        return values

    def _tuple(self, data: Json, definition: TypeDef, type_index: int, depth: int) -> Value:
        if not isinstance(data, list) or len(data) != len(definition.items):
            raise self._misfit(type_index, data)
        parts = enumerate(zip(data, definition.items, strict=True))
        return tuple(self._parts(((part, item, f"[{place}]") for place, (part, item) in parts), depth))

    def _map(self, data: Json, definition: TypeDef, type_index: int, depth: int) -> Value:
        if not isinstance(data, dict):
            raise self._misfit(type_index, data)
        key_type, item_type = definition.items
        items = self._parts(((item, item_type, f".{key}") for key, item in data.items()), depth)
        return dict(zip([self._key(key, key_type) for key in data], items, strict=True))

    def _key(self, key: str, type_index: int) -> Value:
        """What `_key_text` wrote."""
        definition = self._types[type_index]
        match definition.kind:
            case "struct" if definition.positional and len(definition.fields) == 1:
                part = self._key(key, definition.fields[0].type)
                return self._classes.struct(definition.name)(part)  # type: ignore[call-arg]
            case "enum" if not key.startswith("{"):
                return self._enum(key, definition, type_index, 0)
            case "tuple" | "option" | "enum" | "struct" | "schema":
                return self.read(self._parsed_key(key, type_index), type_index, 0)
            case _:
                return self._plain_key(key, definition.name, type_index)

    def _parsed_key(self, key: str, type_index: int) -> Json:
        import json

        try:
            return json.loads(key)
        except (ValueError, RecursionError):
            raise self._misfit(type_index, key) from None

    def _plain_key(self, key: str, name: str, type_index: int) -> Value:
        match name:
            case "Int":
                try:
                    number = int(key)
                except ValueError:
                    raise self._misfit(type_index, key) from None
                if INT_MIN <= number <= INT_MAX:
                    return number
                raise self._misfit(type_index, number)
            case "Bool" if key in ("true", "false"):
                return key == "true"
            case "Bool":
                raise self._misfit(type_index, key)
            case _:
                return well_formed(key)

    def _result(self, data: Json, definition: TypeDef, type_index: int, depth: int) -> Value:
        match data:
            case {"ok": item} if len(data) == 1:
                return Ok(self._part(item, definition.items[0], ".ok", depth))
            case {"err": item} if len(data) == 1:
                return Err(self._part(item, definition.items[1], ".err", depth))
            case _:
                raise self._misfit(type_index, data)

    def _range(self, data: Json, type_index: int) -> Value:
        match data:
            case {"start": start, "end": end, **said} if said.keys() <= {"inclusive", "step"}:
                inclusive, given = said.get("inclusive", False), (start, end, said.get("step", 1))
                numbers = [each for each in given if type(each) is int and INT_MIN <= each <= INT_MAX]
                if len(numbers) == 3 and isinstance(inclusive, bool) and numbers[2] >= 1:
                    low, high, step = numbers
                    return Range(range(low, high + inclusive, step), inclusive)
        raise self._misfit(type_index, data)

    def _literal(self, data: Json, definition: TypeDef, type_index: int) -> Value:
        for literal in definition.literals:
            if type(literal) is type(data) and literal == data:
                return literal
            if self._coerce and literal is not None and isinstance(data, str) and to_text(literal) == data:
                return literal
        raise Misfit(self._text(type_index), to_text([data])[1:-1] if isinstance(data, str) else _found(data))

    def _fields(self, data: Json, fields: list[FieldDef], type_index: int, depth: int) -> list[Value]:
        if not isinstance(data, dict):
            raise self._misfit(type_index, data)
        if not self._tells and len(data) == len(fields) and all(field.name in data for field in fields):
            return [self.read(data[field.name], field.type, depth + 1) for field in fields]
        values: list[Value] = []
        misfits = [
            Misfit(self._text(type_index), phrase=f"the unknown field `{name}`")
            for name in sorted(data.keys() - {field.name for field in fields})
        ]
        for field in fields:
            try:
                values.append(self._field(data, field, depth))
            except Misfit as misfit:
                misfits.append(misfit)
        _raise_all(misfits)
        return values

    def _field(self, data: dict[str, Json], field: FieldDef, depth: int) -> Value:
        if field.name in data:
            return self._part(data[field.name], field.type, f".{field.name}", depth)
        if field.has_default:
            return self._part(field.default, field.type, f".{field.name}", depth)
        if self._types[field.type].kind == "option":
            return NONE
        missing = Misfit(self._text(field.type), phrase="nothing")
        missing.step(f".{field.name}")
        raise missing

    def _enum(self, data: Json, definition: TypeDef, type_index: int, depth: int) -> Value:
        match data:
            case str():
                name, payload = data, None
            case {"variant": str(name)} if data.keys() <= {"variant", "data"}:
                payload = data.get("data")
            case _:
                raise self._misfit(type_index, data)
        for tag, variant in enumerate(definition.variants):
            if variant.name == name:
                parts = self._payload(payload, variant, type_index, depth)
                return build_variant(self._classes, definition.name, tag, parts)
        names = " | ".join(f'"{variant.name}"' for variant in definition.variants)
        raise Misfit(f"{self._text(type_index)} ({names})", f'"{name}"')

    def _payload(self, data: Json, variant: VariantDef, type_index: int, depth: int) -> list[Value]:
        fields = variant.fields
        if variant.named:
            return self._fields(data, fields, type_index, depth)
        if not fields and data is None:
            return []
        return self._positional(data, fields, f"{self._text(type_index)}::{variant.name}", ".data", depth)

    def _positional(
        self, data: Json, fields: list[FieldDef], what: str, place: str, depth: int
    ) -> list[Value]:
        """Fields without names, as `_positional_json` writes them."""
        parts = [data] if len(fields) == 1 else data
        if not isinstance(parts, list) or len(parts) != len(fields):
            raise Misfit(f"{what} with {len(fields)} values", _found(data))
        steps = [place] if len(fields) == 1 else [f"{place}[{number}]" for number in range(len(fields))]
        kinds = [field.type for field in fields]
        return self._parts(zip(parts, kinds, steps, strict=True), depth)

    def _error(self, data: Json, name: str, type_index: int) -> Value:
        match data:
            case {"message": str(message)}:
                others = {
                    well_formed(key): plain_value(item)
                    for key, item in data.items()
                    if key not in ("message", "kind")
                }
                kind = well_formed(str(data.get("kind", "")))
                return ErrorValue(name, plain_value(message), kind, **others)
            case str():
                return ErrorValue(name, well_formed(data))
            case _:
                raise self._misfit(type_index, data)


def plain_value(data: Json) -> Value:
    """JSON as an Any: objects are Maps, numbers beyond 64 bits Floats."""
    kind = type(data)
    if kind is str:
        return well_formed(data)
    if kind is int:
        return data if INT_MIN <= data <= INT_MAX else _as_float(data)
    if kind is list:
        return [plain_value(item) for item in data]
    if kind is dict:
        return {
            well_formed(key) if type(key) is str else _member(key): plain_value(item)
            for key, item in data.items()
        }
    if kind in _OF_JSON:
        return data
    plain = _as_json(data)
    if plain is data:
        raise Misfit("Any", kind.__name__)
    return plain_value(plain)


def _as_json(data: Any) -> Json:
    """What Python code gives as JSON, in the types of JSON, as `json.dumps` takes it: a StrEnum is its text,
    a tuple an array, a key a text. Its parts stay as they are, and so does what has no such form."""
    match data:
        case None | bool():
            return data
        case str():
            return str.__str__(data)
        case int():
            return int.__int__(data)
        case float():
            return float.__float__(data)
        case list() | tuple():
            return list(data)
        case dict():
            return {_member(key): item for key, item in data.items()}
        case _:
            return data


def _member(key: Any) -> str:
    """A key of Python's as that of an object; `json.dumps` takes the same ones."""
    match key:
        case str():
            return well_formed(_as_json(key))
        case bool() | int() | float():
            return to_text(_as_json(key))
        case None:
            return "null"
        case _:
            raise Misfit("a key of an object", type(key).__name__)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _raise_all(misfits: list[Misfit]) -> None:
    """Raise the first with the others beside it, if there are any."""
    if misfits:
        first, *others = misfits
        first.beside += [each for other in others for each in (other, *other.beside)]
        del first.beside[_MOST_MISFITS - 1 :]
        raise first


def _found(data: Json) -> str:
    match data:
        case None:
            return "null"
        case dict():
            return "Object"
        case _:
            return type_name(data)

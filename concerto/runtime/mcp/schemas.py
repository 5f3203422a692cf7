"""JSON Schemas as types: whether one fits into another, and how one reads in the language.

Only types are looked at. Bounds, patterns and formats narrow a type without changing what a program has to
write; they are left to the server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
NameObject: TypeAlias = Callable[[Json], str]

_WORDS = {"integer": "Int", "number": "Float", "string": "String", "boolean": "Bool", "null": "Nil"}
_SAYS_NOTHING = frozenset({"title", "description", "default", "examples", "$schema", "$defs", "definitions"})
_MOST_SHOWN = 120
_MOST_STEPS = 100_000
"""Parts of schemas that are looked at: choices in choices have more of them than anybody can visit."""
_DEEPEST = 200
_LONE_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class SchemaMisfit:
    """Where a schema does not fit another: the innermost place, and what stands there."""

    path: str
    given: Json
    wanted: Json


def fits(given: Json, wanted: Json, *, loose: bool = False) -> bool:
    """Whether every value of the schema `given` is one of `wanted`. What is unknown (`{}`) fits everywhere
    and takes everything. `loose` takes a number for an integer, as JSON has only one kind; the value is
    looked at later."""
    return misfit(given, wanted, loose=loose) is None


def misfit(given: Json, wanted: Json, *, loose: bool = False) -> SchemaMisfit | None:
    """Why a schema does not fit; None if it does."""
    fitting = _Fitting(given, wanted, loose)
    return None if fitting.fits(given, wanted) else fitting.found


def type_text(schema: Json, root: Json = None, name_object: NameObject | None = None) -> str:
    """The schema as a type of the language. `name_object` gives the name of an object with known
    properties, which is written in braces without it."""
    return _Writer(schema if root is None else root, name_object).text(schema)


def shown(schema: Json) -> str:
    """The type for a message, cut if it is long."""
    text = type_text(schema)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"


def properties(schema: Json) -> dict[str, Json]:
    """The known properties of an object."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def required(schema: Json) -> list[str]:
    found = schema.get("required") if isinstance(schema, dict) else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def resolved(schema: Json, root: Json) -> Json:
    """The schema that a local reference leads to, or the schema itself."""
    seen = 0
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        seen += 1
        schema = _at(schema["$ref"], root) if seen < 50 else {}
    return schema


def inside(schema: Json, root: Json) -> Json:
    """A part of the document `root` that can stand alone: with the definitions that it may refer to."""
    if not isinstance(schema, dict) or not isinstance(root, dict):
        return schema
    return {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}


def _at(pointer: str, root: Json) -> Json:
    if not pointer.startswith("#"):
        return {}
    found = root
    for step in pointer[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or step not in found:
            return {}
        found = found[step]
    return found


def _is_open(schema: Json) -> bool:
    """Whether the schema says nothing of types."""
    return schema is True or (isinstance(schema, dict) and not schema.keys() - _SAYS_NOTHING)


def _options(schema: dict[str, Json]) -> list[Json] | None:
    """The alternatives of a schema, or None if it is one type."""
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return list(schema[key])
    kinds = schema.get("type")
    if isinstance(kinds, list) and _values(schema) is None:
        return [{**schema, "type": kind} for kind in kinds]
    return None


def _values(schema: dict[str, Json]) -> list[Json] | None:
    """The values that an `enum` or `const` allows; None if there is one that no type of the language can
    be made of."""
    values = _listed(schema)
    return values if values and all(isinstance(value, str | int | None) for value in values) else None


def _listed(schema: dict[str, Json]) -> list[Json]:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else []


def _items(schema: dict[str, Json]) -> Json:
    """What the items of an array are, wherever they stand."""
    items, places = schema.get("items", True), schema.get("prefixItems")
    if isinstance(items, list):  # As tuples were once written.
        items, places = schema.get("additionalItems", True), items
    if not isinstance(places, list):
        return items
    return {"anyOf": places if isinstance(items, bool) else [*places, items]}


def _kind(schema: dict[str, Json]) -> str:
    """The type's name; "" if it is not said and cannot be seen."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    kinds = {_kind_of(value) for value in _listed(schema)}
    if len(kinds) == 1:
        return kinds.pop()
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else ""


def _kind_of(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


class _Fitting:
    """Compares two documents; two places that are being compared already are taken to fit."""

    def __init__(self, given_root: Json, wanted_root: Json, loose: bool) -> None:
        self._given_root = given_root
        self._wanted_root = wanted_root
        self._loose = loose
        self._open: set[tuple[int, int]] = set()
        self._path: list[str] = []
        self._guesses = 0
        self._steps = 0
        self.found: SchemaMisfit | None = None

    def fits(self, given: Json, wanted: Json, step: str = "") -> bool:
        given = resolved(given, self._given_root)
        wanted = resolved(wanted, self._wanted_root)
        self._path.append(step)
        right = self._both_fit(given, wanted)
        if not right and self.found is None and not self._guesses:
            path = "".join(self._path).lstrip(".")
            self.found = SchemaMisfit(
                path, inside(given, self._given_root), inside(wanted, self._wanted_root)
            )
        self._path.pop()
        return right

    def _fits_one(self, given: Json, options: Iterable[Json]) -> bool:
        """Whether it fits one of several; that it does not fit another one is no news."""
        self._guesses += 1
        try:
            return any(self.fits(given, option) for option in options)
        finally:
            self._guesses -= 1

    def _both_fit(self, given: Json, wanted: Json) -> bool:
        self._steps += 1
        if self._steps > _MOST_STEPS or len(self._path) > _DEEPEST:
            return True  # What is left is the server's to judge.
        if wanted is False or given is False:
            return given is False
        if _is_open(wanted) or _is_open(given):
            return True
        if not isinstance(given, dict) or not isinstance(wanted, dict):
            return True
        place = (id(given), id(wanted))
        if place in self._open:
            return True
        self._open.add(place)
        try:
            return self._parts_fit(given, wanted)
        finally:
            self._open.discard(place)

    def _parts_fit(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        if isinstance(wanted.get("allOf"), list):
            return all(self.fits(given, part) for part in wanted["allOf"])
        if isinstance(given.get("allOf"), list):
            self._guesses += 1
            try:
                return any(self.fits(part, wanted) for part in given["allOf"])
            finally:
                self._guesses -= 1
        options = _options(given)
        if options is not None:
            return all(self.fits(option, wanted) for option in options)
        options = _options(wanted)
        if options is not None:
            return self._fits_one(given, options)
        return self._single_fits(given, wanted)

    def _single_fits(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        values, allowed = _values(given), _values(wanted)
        if allowed is not None:
            written = {json.dumps(value) for value in allowed}
            return values is not None and all(json.dumps(value) in written for value in values)
        if values is not None:
            return all(self._kind_fits(_kind_of(value), _kind(wanted)) for value in values)
        kind = _kind(given)
        if not self._kind_fits(kind, _kind(wanted)):
            return False
        if kind == "array":
            return self.fits(_items(given), _items(wanted), "[]")
        return kind != "object" or self._object_fits(given, wanted)

    def _kind_fits(self, given: str, wanted: str) -> bool:
        if given == wanted or not given or not wanted:
            return True
        numbers = ("integer", "number")
        return (given, wanted) == numbers or (self._loose and given in numbers and wanted in numbers)

    def _object_fits(self, given: dict[str, Json], wanted: dict[str, Json]) -> bool:
        has, takes = properties(given), properties(wanted)
        rest = wanted.get("additionalProperties", True)
        if not has:  # A map: its values have to fit wherever they may go.
            value = given.get("additionalProperties", True)
            return self.fits(value, rest) and all(
                self.fits(value, part, f".{name}") for name, part in takes.items()
            )
        sure = {*required(given), *(name for name, part in has.items() if _has_default(part))}
        if not takes:
            return all(self.fits(part, rest, f".{name}") for name, part in has.items())
        return all(name in sure for name in required(wanted)) and all(
            self.fits(self._value(name, part, wanted), takes.get(name, rest), f".{name}")
            for name, part in has.items()
        )

    def _value(self, name: str, part: Json, wanted: Json) -> Json:
        """What can stand at a property: null is as good as nothing where nothing is needed."""
        part = resolved(part, self._given_root)
        options = _options(part) if self._loose and isinstance(part, dict) else None
        if options is None or name in required(wanted):
            return part
        return {"anyOf": [each for each in options if not _is_null(resolved(each, self._given_root))]}


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema


class _Writer:
    def __init__(self, root: Json, name_object: NameObject | None) -> None:
        self._root = root
        self._name_object = name_object
        self._open: list[int] = []
        self._steps = 0

    def text(self, schema: Json) -> str:
        schema = resolved(schema, self._root)
        self._steps += 1
        if not isinstance(schema, dict) or _is_open(schema) or id(schema) in self._open:
            return "Any"
        if self._steps > _MOST_STEPS or len(self._open) > _DEEPEST:
            return "Any"
        self._open.append(id(schema))
        try:
            return self._text(schema)
        finally:
            self._open.pop()

    def _text(self, schema: dict[str, Json]) -> str:
        options = _options(schema)
        if options is not None:
            return self._union(options)
        values = _values(schema)
        if values:
            return self._literals(values)
        if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
            return self.text(schema["allOf"][0])
        match _kind(schema):
            case "array":
                return f"Array<{self.text(_items(schema))}>"
            case "object":
                return self._object(schema)
            case kind:
                return _WORDS.get(kind, "Any")

    def _union(self, options: list[Json]) -> str:
        kept = [each for each in options if not _is_null(resolved(each, self._root))]
        texts = list(dict.fromkeys([self.text(each) for each in kept]))
        if not texts:
            return "Nil" if options else "Any"
        inner = texts[0] if len(texts) == 1 else _joined(texts)
        return f"Option<{inner}>" if len(kept) < len(options) and inner != "Any" else inner

    def _literals(self, values: list[Json]) -> str:
        given = [value for value in values if value is not None]
        text = " | ".join([literal(value) for value in given]) or "nil"
        return f"Option<{text}>" if given and len(given) < len(values) else text

    def _object(self, schema: dict[str, Json]) -> str:
        known = properties(schema)
        if not known:
            return f"Map<String, {self.text(schema.get('additionalProperties', True))}>"
        if self._name_object is not None:
            return self._name_object(schema)
        needed = required(schema)
        return f"{{ {', '.join(self._members(known, needed))} }}"

    def _members(self, known: Mapping[str, Json], needed: list[str]) -> Iterator[str]:
        for name, part in known.items():
            yield f"{name}{'' if name in needed else '?'}: {self.text(part)}"


def literal(value: Json) -> str:
    """A constant as a program writes it."""
    match value:
        case None:
            return "nil"
        case str():
            return quoted(value)
        case list():
            return "[" + ", ".join([literal(item) for item in value]) + "]"
        case dict():
            return "{" + ", ".join([f"{quoted(key)}: {literal(item)}" for key, item in value.items()]) + "}"
        case _:
            return json.dumps(value)


def quoted(text: str) -> str:
    """A text as a string literal: JSON's escapes, except for those that the language writes in another
    way."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    written = [escapes.get(c, c if c.isprintable() else f"\\u{{{ord(c):X}}}") for c in writable_text(text)]
    return '"' + "".join(written).replace("${", "\\${") + '"'


def writable_text(text: str) -> str:
    """The text without halves of characters, which JSON may hold and no program."""
    return _LONE_HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def _is_null(schema: Json) -> bool:
    return isinstance(schema, dict) and (schema.get("type") == "null" or _values(schema) == [None])


def _joined(texts: list[str]) -> str:
    """Alternatives that are all literals are one union; others have no type of their own."""
    literals = all(text[:1] in '"-0123456789' or text in ("true", "false", "nil") for text in texts)
    return " | ".join(texts) if literals else "Any"

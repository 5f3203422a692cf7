"""Schemas as types of the language, for messages and for generated declarations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from concerto.json_data import Json
from concerto.schema.reading import (
    DEEPEST,
    MOST_STEPS,
    allowed_values,
    alternatives,
    fixed_items,
    is_null,
    is_open,
    item_schema,
    kind_of,
    properties,
    required,
    resolved,
    tagged_variants,
)
from concerto.well_formed import well_formed
from concerto.wording import shortened

NameType: TypeAlias = Callable[[Json], str]
"""The name of a type that has to be declared for a schema; "" if none has to be."""

_WORDS = {"integer": "Int", "number": "Float", "string": "String", "boolean": "Bool", "null": "Nil"}
_MOST_SHOWN = 120


def type_text(
    schema: Json, root: Json = None, name_type: NameType | None = None, *, sent: bool = False
) -> str:
    """The schema as a type of the language. `name_type` gives the name of an object with known properties,
    which is written in braces without it, and of an enum. A value that is `sent` can be neither
    an enum with data nor a tuple, as parameters of tools cannot."""
    return _Writer(schema if root is None else root, name_type, sent).text(schema)


def shown(schema: Json) -> str:
    """The type for a message, cut if it is long."""
    return shortened(type_text(schema), _MOST_SHOWN)


class _Writer:
    def __init__(self, root: Json, name_type: NameType | None, sent: bool) -> None:
        self._root = root
        self._name_type = name_type
        self._sent = sent
        self._open: list[int] = []
        self._steps = 0

    def text(self, schema: Json) -> str:
        schema = resolved(schema, self._root)
        self._steps += 1
        if not isinstance(schema, dict) or is_open(schema) or id(schema) in self._open:
            return "Any"
        if self._steps > MOST_STEPS or len(self._open) > DEEPEST:
            return "Any"
        self._open.append(id(schema))
        try:
            return self._text(schema)
        finally:
            self._open.pop()

    def _text(self, schema: dict[str, Json]) -> str:
        if self._name_type is not None and not self._sent and tagged_variants(schema):
            return self._name_type(schema)
        options = alternatives(schema)
        if options is not None:
            return self._union(options)
        values = allowed_values(schema)
        if values:
            return (self._name_type is not None and self._name_type(schema)) or self._literals(values)
        if isinstance(schema.get("allOf"), list) and len(schema["allOf"]) == 1:
            return self.text(schema["allOf"][0])
        match kind_of(schema):
            case "array" if not self._sent and len(places := fixed_items(schema) or ()) > 1:
                return f"({', '.join([self.text(each) for each in places])})"
            case "array":
                return f"Array<{self.text(item_schema(schema))}>"
            case "object":
                return self._object(schema)
            case kind:
                return _WORDS.get(kind, "Any")

    def _union(self, options: list[Json]) -> str:
        kept = [each for each in options if not is_null(resolved(each, self._root))]
        texts = list(dict.fromkeys([self.text(each) for each in kept]))
        if not texts:
            return "Nil" if options else "Any"
        inner = texts[0] if len(texts) == 1 else _joined(texts)
        return f"Option<{inner}>" if len(kept) < len(options) and inner != "Any" else inner

    def _literals(self, values: list[Json]) -> str:
        given = [value for value in values if value is not None]
        if any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in given):
            return "Any"
        text = " | ".join([literal(value) for value in given]) or "nil"
        return f"Option<{text}>" if given and len(given) < len(values) else text

    def _object(self, schema: dict[str, Json]) -> str:
        known = properties(schema)
        if not known:
            return f"Map<String, {self.text(schema.get('additionalProperties', True))}>"
        if self._name_type is not None:
            return self._name_type(schema)
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
    written = [escapes.get(c, c if c.isprintable() else f"\\u{{{ord(c):X}}}") for c in well_formed(text)]
    return '"' + "".join(written).replace("${", "\\${") + '"'


def _joined(texts: list[str]) -> str:
    """Alternatives that are all literals are one union; others have no type of their own."""
    literals = all(text[:1] in '"-0123456789' or text in ("true", "false", "nil") for text in texts)
    return " | ".join(texts) if literals else "Any"

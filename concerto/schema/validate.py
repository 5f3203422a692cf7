"""Whether a JSON value is one of a schema. A complaint is written for the model that gave the value: it names
the place, what was expected and what was found, so that the next attempt can be right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice

from concerto.diagnostics import did_you_mean, suggest
from concerto.json_data import Json
from concerto.schema.reading import DEEPEST, properties, required, resolved

_MOST_COMPLAINTS = 5
_MOST_CHOICES = 100_000
_NAMES = {int: "integer", str: "string", bool: "boolean"}
_SAY_MORE = ("anyOf", "enum", "$ref")
"""Of a plain value than its type."""
_WORDS = {
    "integer": "an integer", "number": "a number", "string": "a string", "boolean": "true or false",
    "array": "an array", "object": "an object", "null": "null",
}  # fmt: skip


def complaints(value: Json, schema: Json, path: str = "") -> list[str]:
    """What does not fit, the first few; empty if all fits."""
    if _fits_plainly(value, schema):
        return []
    return list(islice(_Check(schema).complaints(value, schema, path), _MOST_COMPLAINTS))


def _fits_plainly(value: Json, schema: Json) -> bool:
    """Whether an object of plain values fits by their types alone, as most arguments of calls do."""
    if type(value) is not dict or type(schema) is not dict or schema.get("type") != "object":
        return False
    known = properties(schema)
    for name, item in value.items():
        part, kind = known.get(name), _NAMES.get(type(item))
        if kind is None or type(part) is not dict or part.get("type") != kind:
            return False
        if not part.keys().isdisjoint(_SAY_MORE):
            return False
    return schema.keys().isdisjoint(_SAY_MORE) and value.keys() >= set(required(schema))


class _Check:
    """Goes through a schema, which may be a server's and need not make sense: what makes none is not checked,
    nor what takes too long to visit."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._choices = 0
        self._depth = 0

    def complaints(self, value: Json, schema: Json, path: str) -> Iterator[str]:
        schema = resolved(schema, self._root)
        if not isinstance(schema, dict) or self._depth > DEEPEST:
            return
        self._depth += 1
        yield from self._of_any(value, schema, path)
        self._depth -= 1

    def _of_any(self, value: Json, schema: dict[str, Json], path: str) -> Iterator[str]:
        if isinstance(schema.get("anyOf"), list):
            if not any(self._fits(value, option, path) for option in schema["anyOf"]):
                yield f"{_at(path)}: fits none of the allowed forms, found {shown_value(value)}"
            return
        if isinstance(schema.get("enum"), list) and not _among(value, schema["enum"]):
            allowed = ", ".join([json.dumps(each) for each in schema["enum"]])
            yield f"{_at(path)}: expected one of {allowed}, found {shown_value(value)}"
            return
        kind: Json = schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if kind is not None and not any(_is(value, each) for each in kinds):
            words = " or ".join([_WORDS.get(str(each), str(each)) for each in kinds])
            yield f"{_at(path)}: expected {words}, found {shown_value(value)}"
        elif isinstance(value, dict):
            yield from self._of_object(value, schema, path)
        elif isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self.complaints(item, schema["items"], f"{path}[{index}]")

    def _fits(self, value: Json, option: Json, path: str) -> bool:
        self._choices += 1
        if self._choices > _MOST_CHOICES:
            return True
        depth = self._depth
        try:
            return next(self.complaints(value, option, path), None) is None
        finally:
            self._depth = depth

    def _of_object(self, value: dict[str, Json], schema: Json, path: str) -> Iterator[str]:
        known, needed = properties(schema), required(schema)
        for name in needed:
            if name not in value:
                yield f"{_at(_join(path, name))}: required, but missing"
        rest = schema.get("additionalProperties", "properties" not in schema)
        for name, item in value.items():
            if name in known:
                # null for an optional parameter is its absence.
                if item is not None or name in needed:
                    yield from self.complaints(item, known[name], _join(path, name))
            elif rest is False or rest is None:
                yield _unknown(name, list(known), path)
            elif isinstance(rest, dict):
                yield from self.complaints(item, rest, _join(path, name))


def _unknown(name: str, known: Sequence[str], path: str) -> str:
    near = suggest(name, known)
    hint = did_you_mean(near, f"known are {', '.join(known)}") if known else "there are none"
    return f"{_at(_join(path, name))}: no such parameter, {hint}"


def _is(value: Json, kind: str) -> bool:
    match kind:
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or (
                isinstance(value, float) and value.is_integer()
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
        case _:
            return True


def _among(value: Json, allowed: Sequence[Json]) -> bool:
    return any(type(value) is type(each) and value == each for each in allowed)


def _at(path: str) -> str:
    return f"`{path}`" if path else "the value"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def shown_value(value: Json) -> str:
    """A value for a message, cut if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str | int | float | bool) or value is None:
        return text if len(text) <= 60 else text[:57] + '…"'
    return "an array" if isinstance(value, list) else "an object"

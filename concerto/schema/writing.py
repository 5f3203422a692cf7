"""Values in the form that a schema has: the inverse of reading."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.json_data import Json
from concerto.schema.reading import (
    allowed_values,
    alternatives,
    fixed_items,
    item_schema,
    properties,
    required,
    resolved,
)


def as_written(value: Json, schema: Json, root: Json) -> Json:
    """A value's JSON as its schema has it: variants without data by their names, and what is optional and
    not there left out of its object."""
    options = list(_options(schema, root, set()))
    match value:
        case list():
            places = zip(value, _places(value, options), strict=True)
            return [as_written(item, place, root) for item, place in places]
        case {"variant": str(name), "data": None} if any(name in (allowed_values(o) or ()) for o in options):
            return name
        case dict():
            known = _object(value, options, root)
            if known is None:
                rest: Json = next((each["additionalProperties"] for each in options if _has_values(each)), {})
                return {key: as_written(each, rest, root) for key, each in value.items()}
            parts, needed = properties(known), required(known)
            return {
                key: as_written(each, parts.get(key, {}), root)
                for key, each in value.items()
                if each is not None or key in needed
            }
        case _:
            return value


def pruned(value: Json, schema: Json, root: Json) -> Json:
    """The value without what a declared type does not know: a server may tell more than was declared."""
    options = list(_options(schema, root, set()))
    match value:
        case list():
            places = zip(value, _places(value, options), strict=True)
            return [pruned(item, place, root) for item, place in places]
        case dict() if (known := _object(value, options, root)) is not None:
            parts = properties(known)
            return {key: pruned(each, parts[key], root) for key, each in value.items() if key in parts}
        case _:
            return value


def _options(schema: Json, root: Json, met: set[int]) -> Iterator[dict[str, Json]]:
    """The schemas of which a value fits one."""
    schema = resolved(schema, root)
    if isinstance(schema, dict) and id(schema) not in met:
        met.add(id(schema))
        several = alternatives(schema)
        if several is None:
            yield schema
        for each in several or ():
            yield from _options(each, root, met)


def _has_values(schema: dict[str, Json]) -> bool:
    return isinstance(schema.get("additionalProperties"), dict)


def _places(values: list[Json], options: list[dict[str, Json]]) -> list[Json]:
    """The schema of each item."""
    for each in options:
        places = fixed_items(each)
        if places is not None and len(places) == len(values):
            return places
    items: Json = next((item_schema(each) for each in options if "items" in each), {})
    return [items] * len(values)


def _object(value: dict[str, Json], options: list[dict[str, Json]], root: Json) -> dict[str, Json] | None:
    """The object with known properties that a value is: one with its variant, or that knows all that is
    needed of it, before any other."""
    known = [each for each in options if properties(each)]
    for each in known:
        variant = resolved(properties(each).get("variant"), root)
        if isinstance(variant, dict) and value.get("variant") in (allowed_values(variant) or ()):
            return each
    return next((each for each in known if value.keys() >= set(required(each))), next(iter(known), None))

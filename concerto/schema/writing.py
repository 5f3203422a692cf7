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
        case {"variant": str(name), "data": data} if len(value) == 2:
            return _variant(name, data, options, root)
        case list():
            return _items(value, options, root)
        case dict():
            known = next((each for each in options if properties(each)), None)
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


def variant_option(name: Json, options: list[dict[str, Json]], root: Json) -> dict[str, Json] | None:
    """The schema of a variant with data, of several."""
    for each in options:
        if name in (allowed_values(resolved(properties(each).get("variant", {}), root)) or ()):
            return each
    return None


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


def _items(values: list[Json], options: list[dict[str, Json]], root: Json) -> list[Json]:
    for each in options:
        places = fixed_items(each)
        if places is not None and len(places) == len(values):
            return [as_written(value, place, root) for value, place in zip(values, places, strict=True)]
    items: Json = next((item_schema(each) for each in options if "items" in each), {})
    return [as_written(value, items, root) for value in values]


def _variant(name: str, data: Json, options: list[dict[str, Json]], root: Json) -> Json:
    if any(name in (allowed_values(each) or ()) for each in options):
        return name
    found = variant_option(name, options, root)
    if found is None:
        return {"variant": name, "data": data}
    parts = properties(found)
    return {"variant": name, **({"data": as_written(data, parts["data"], root)} if "data" in parts else {})}

"""Arguments of a program's call in the form in which a model writes them: the inverse of reading."""

from __future__ import annotations

from collections.abc import Iterator

from concerto.json_data import Json
from concerto.schema.reading import allowed_values, alternatives, item_schema, properties, required, resolved


def as_written(value: Json, schema: Json, root: Json) -> Json:
    """A value's JSON as its parameter's schema has it: variants by their names, and what is optional and not
    there left out."""
    options = list(_options(schema, root))
    match value:
        case {"variant": str(name), "data": data} if len(value) == 2:
            return _variant(name, data, options, root)
        case list():
            items: Json = next((item_schema(each) for each in options if "items" in each), {})
            return [as_written(each, items, root) for each in value]
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


def _options(schema: Json, root: Json) -> Iterator[dict[str, Json]]:
    """The schemas of which a value fits one."""
    schema = resolved(schema, root)
    if isinstance(schema, dict):
        several = alternatives(schema)
        if several is None:
            yield schema
        for each in several or ():
            yield from _options(each, root)


def _has_values(schema: dict[str, Json]) -> bool:
    return isinstance(schema.get("additionalProperties"), dict)


def _variant(name: str, data: Json, options: list[dict[str, Json]], root: Json) -> Json:
    for each in options:
        if name in (allowed_values(each) or ()):
            return name
        parts = properties(each)
        if name in (allowed_values(resolved(parts.get("variant", {}), root)) or ()):
            payload = {"data": as_written(data, parts["data"], root)} if "data" in parts else {}
            return {"variant": name, **payload}
    return {"variant": name, "data": data}

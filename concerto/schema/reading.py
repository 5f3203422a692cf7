"""Reads JSON Schemas, which may be a server's and need not make sense: what a part says of types.

Only types are looked at. Bounds, patterns and formats narrow a type without changing what a program has to
write; they are left to the server.
"""

from __future__ import annotations

from urllib.parse import unquote

from concerto.json_data import Json

MOST_STEPS = 100_000
"""Parts of schemas that are looked at: choices in choices have more of them than anybody can visit."""
DEEPEST = 100
_MOST_REFERENCES = 50
_BY_NAME = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Whose members are schemas by any name."""
_VALUES = frozenset({"enum", "const", "default", "examples"})
_SAYS_NOTHING = frozenset({"title", "description", "default", "examples", "$schema", "$defs", "definitions"})


def properties(schema: Json) -> dict[str, Json]:
    """The known properties of an object."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def required(schema: Json) -> list[str]:
    found = schema.get("required") if isinstance(schema, dict) else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def resolved(schema: Json, root: Json) -> Json:
    """The schema that a local reference leads to, or the schema itself."""
    found = _resolved(schema, root)
    return {} if found is None else found


def broken_reference(root: Json) -> str | None:
    """The place of a reference that leads to no schema of the document."""
    left: list[tuple[Json, str]] = [(root, "")]
    while left:
        schema, place = left.pop()
        if isinstance(schema, list):
            left += [(part, f"{place}[{index}]") for index, part in enumerate(schema)]
        elif isinstance(schema, dict):
            if _resolved(schema, root) is None:
                return f"{place}.$ref"
            for key, part in schema.items():
                if key in _BY_NAME and isinstance(part, dict):
                    left += [(each, f"{place}.{key}.{name}") for name, each in part.items()]
                elif key not in _VALUES:
                    left.append((part, f"{place}.{key}"))
    return None


def _resolved(schema: Json, root: Json) -> Json:
    """What `resolved` says; None for a reference that leads nowhere."""
    seen = 0
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        seen += 1
        schema = _at(schema["$ref"], root) if seen < _MOST_REFERENCES else None
    return schema


def inside(schema: Json, root: Json) -> Json:
    """A part of the document `root` that can stand alone: with the definitions that it may refer to."""
    if not isinstance(schema, dict) or not isinstance(root, dict):
        return schema
    return {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **schema}


def definitions(root: Json) -> dict[str, Json]:
    """What a document's references lead to, by name."""
    found: dict[str, Json] = {}
    for key in ("$defs", "definitions"):
        part = root.get(key) if isinstance(root, dict) else None
        found.update(part if isinstance(part, dict) else {})
    return found


def _at(pointer: str, root: Json) -> Json:
    if pointer[:2] not in ("#", "#/"):
        return None
    found = root
    for step in unquote(pointer).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list):
            known = step.isdecimal() and len(step) < 6 and int(step) < len(found)
            found = found[int(step)] if known else None
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, dict | bool) else None


def is_open(schema: Json) -> bool:
    """Whether the schema says nothing of types."""
    return schema is True or (isinstance(schema, dict) and not schema.keys() - _SAYS_NOTHING)


def alternatives(schema: dict[str, Json]) -> list[Json] | None:
    """The alternatives of a schema, or None if it is one type."""
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return list(schema[key])
    kinds = schema.get("type")
    if isinstance(kinds, list) and allowed_values(schema) is None:
        return [{**schema, "type": kind} for kind in kinds]
    return None


def allowed_values(schema: dict[str, Json]) -> list[Json] | None:
    """The values that an `enum` or `const` allows; None if there is one that no type of the language can
    be made of."""
    values = _listed(schema)
    return values if values and all(isinstance(value, str | int | None) for value in values) else None


def _listed(schema: dict[str, Json]) -> list[Json]:
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else []


def item_schema(schema: dict[str, Json]) -> Json:
    """What the items of an array are, wherever they stand."""
    items, places = schema.get("items", True), schema.get("prefixItems")
    if isinstance(items, list):  # As tuples were once written.
        items, places = schema.get("additionalItems", True), items
    if not isinstance(places, list):
        return items
    return {"anyOf": places if isinstance(items, bool) else [*places, items]}


def fixed_items(schema: dict[str, Json]) -> list[Json] | None:
    """The items of a tuple: an array of which each place is described, with none left out or added."""
    places = schema.get("prefixItems")
    if not isinstance(places, list) or schema.get("minItems") != len(places):
        return None
    return places if schema.get("items") is False or schema.get("maxItems") == len(places) else None


def tagged_variants(schema: dict[str, Json]) -> dict[str, Json] | None:
    """The variants of an enum with data, as programs write it: `{"variant": "B", "data": …}` each. What
    stands in `data`, by name; None where there is nothing."""
    found: dict[str, Json] = {}
    options = schema.get("anyOf")
    for option in options if isinstance(options, list) else ():
        parts = properties(option)
        name = parts.get("variant")
        names = allowed_values(name) if isinstance(name, dict) else None
        if names is None or len(names) != 1 or not parts.keys() <= {"variant", "data"}:
            return None
        if set(required(option)) != parts.keys() or names[0] in found or not is_type_name(names[0]):
            return None
        found[str(names[0])] = parts.get("data")
    return found or None


def is_type_name(name: Json) -> bool:
    """Whether it can be the name of a type, or of a variant."""
    return isinstance(name, str) and name.isidentifier() and name.isascii() and name[0].isupper()


def kind_of(schema: dict[str, Json]) -> str:
    """The type's name; "" if it is not said and cannot be seen."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return kind
    kinds = {kind_of_value(value) for value in _listed(schema)}
    if len(kinds) == 1:
        return kinds.pop()
    if "properties" in schema or "additionalProperties" in schema:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else ""


def kind_of_value(value: Json) -> str:
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


def is_null(schema: Json) -> bool:
    return isinstance(schema, dict) and (schema.get("type") == "null" or allowed_values(schema) == [None])

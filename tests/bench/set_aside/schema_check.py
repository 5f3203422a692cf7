# ruff: noqa: E501
import json
from typing import Any


def kind_of(value: Any) -> str:
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


def check(schema: dict[str, Any], value: Any, path: str, errors: list[str]) -> None:
    kind = kind_of(value)
    wanted = schema.get("type")
    if wanted is not None and wanted != kind and not (wanted == "number" and kind == "integer"):
        errors.append(f"{path}: expected {wanted}, found {kind}")
        return
    options = schema.get("enum")
    if options is not None and value not in options:
        errors.append(f"{path}: {value} is none of {json.dumps(options)}")
    if kind in ("integer", "number"):
        if "minimum" in schema and value < schema["minimum"]:
            errors.append(f"{path}: {value} is below {schema['minimum']}")
    elif kind == "string":
        if "maxLength" in schema and len(value) > schema["maxLength"]:
            errors.append(f"{path}: longer than {schema['maxLength']}")
    elif kind == "array":
        if "items" in schema:
            for i, item in enumerate(value):
                check(schema["items"], item, f"{path}[{i}]", errors)
    elif kind == "object":
        properties = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                errors.append(f"{path}: `{name}` is missing")
        for name, member in value.items():
            if name in properties:
                check(properties[name], member, f"{path}.{name}", errors)
            else:
                errors.append(f"{path}: what is `{name}`?")


def call(i: int) -> str:
    priority = ["low", "high", "none", "urgent"][i % 4]
    lines = []
    for n in range(i % 4 + 1):
        sku = "12" if n == 2 else f'"A-{n}"'
        lines.append(f'{{"sku": {sku}, "count": {n - i % 2}, "price": {n * 1.5}}}')
    extra = ', "color": "red"' if i % 6 == 0 else ""
    note = "null" if i % 5 == 0 else f'"{"please " * (i % 3)}"'
    name = "" if i % 7 == 0 else f', "name": "Customer {i}"'
    return (
        f'{{"customer": {{"id": {i}{name}}}, "priority": "{priority}", '
        f'"lines": [{", ".join(lines)}], "note": {note}{extra}}}'
    )


SCHEMA = """
{"type": "object", "required": ["customer", "lines", "priority"], "properties": {
    "customer": {"type": "object", "required": ["id", "name"], "properties": {
        "id": {"type": "integer", "minimum": 3}, "name": {"type": "string", "maxLength": 12}}},
    "priority": {"enum": ["low", "high", "urgent"]},
    "note": {"type": "string", "maxLength": 10},
    "lines": {"type": "array", "items": {"type": "object", "required": ["sku"], "properties": {
        "sku": {"type": "string"}, "count": {"type": "integer", "minimum": 0}, "price": {"type": "number"}}}}}}
"""


def work() -> str:
    schema = json.loads(SCHEMA)
    counts: dict[str, int] = {}
    valid = 0
    first: list[str] = []
    for i in range(150):
        errors: list[str] = []
        check(schema, json.loads(call(i)), "$", errors)
        if not errors:
            valid += 1
        for error in errors:
            place = error.split(": ")[0]
            counts[place] = counts.get(place, 0) + 1
            if len(first) < 8:
                first.append(error)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{place} {count}" for place, count in ranked)
    return f"{valid} valid; {shown}; {'; '.join(first)}"

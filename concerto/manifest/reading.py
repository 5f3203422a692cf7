"""Reads the text of a manifest: TOML, then the models, every mistake with its place."""

from __future__ import annotations

import re
import tomllib
import types
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from concerto.diagnostics import BadManifest, Problems, did_you_mean, suggest
from concerto.manifest.models import ConnectionTable, Manifest
from concerto.manifest.places import KeyPath, TomlPlace, key_places
from concerto.source import Source, Span
from concerto.vocabulary.providers import PROVIDER_KINDS

_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
# `tomllib` names a key as it holds it: a tuple of strings.
_TUPLE = re.compile(r"\(('[^()]*,?)\)")
_QUOTED = r"'([^']*)'"
_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"\n]*\"|'[^'\n]*')"
# What takes long to read, or cannot be.
_DEEP_KEY = re.compile(rf"(?:^|[{{,\[])[ \t]*((?:{_PART}[ \t]*\.[ \t]*){{50}})", re.MULTILINE)
_LONG_NUMBER = re.compile(r"[=\[,]\s*([+-]?[0-9][0-9a-fA-Fox_]{500})")
_TOO_MUCH = ((_DEEP_KEY, "a key of so many parts"), (_LONG_NUMBER, "a number of so many digits"))
_EXPECTED = {
    "bool_type": "`true` or `false`",
    "dict_type": "a table",
    "float_type": "a number",
    "int_type": "a whole number",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "string_type": "a string",
    "tuple_type": "an array",
}


def read_manifest(data: bytes, path: str, problems: Problems) -> Manifest | None:
    """The manifest, or None if an error was added to `problems`."""
    source = _decode(data, path, problems)
    if source is None:
        return None
    for pattern, what in _TOO_MUCH:
        if found := pattern.search(source.text):
            span = source.span(found.start(1), min(found.start(1) + 20, found.end(1)))
            problems.add(BadManifest(span, f"{what} means nothing here"))
            return None
    try:
        raw = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        problems.add(_syntax_error(source, str(error)))
        return None
    except RecursionError:
        problems.add(BadManifest(source.span(0, 0), "the manifest is nested too deeply"))
        return None
    places = key_places(source.text)
    try:
        manifest = Manifest.model_validate(raw)
    except ValidationError as invalid:
        for details in _one_per_place(invalid.errors(include_url=False), places):
            problems.add(_invalid(details, source, places))
        return None
    return _complete(manifest, source, places, problems)


def _decode(data: bytes, path: str, problems: Problems) -> Source | None:
    try:
        return Source(path, data.decode("utf-8-sig").replace("\r\n", "\n"))
    except UnicodeDecodeError as error:
        source = Source(path, data[: error.start].decode("utf-8-sig", "replace"))
        end = len(source.text)
        problems.add(BadManifest(source.span(end, end), "the manifest is not UTF-8 text"))
        return None


def _syntax_error(source: Source, message: str) -> BadManifest:
    place = _TOML_PLACE.search(message)
    offset = len(source.text)
    if place:
        message = message[: place.start()]
        if place[1]:
            offset = min(offset, source.line_starts[int(place[1]) - 1] + int(place[2]) - 1)
    message = _TUPLE.sub(lambda found: f"`{'.'.join(re.findall(_QUOTED, found[1]))}`", message)
    text = message[:1].lower() + message[1:]
    return BadManifest(source.span(offset, min(offset + 1, len(source.text))), f"not TOML: {text}")


def _one_per_place(errors: list[ErrorDetails], places: dict[KeyPath, TomlPlace]) -> list[ErrorDetails]:
    """A value that fits no member of a union is reported once for each member; the one that says
    most, being innermost, is enough. Where a key is unknown, it is most likely the one that is missing."""
    first: dict[KeyPath, ErrorDetails] = {}
    for details in errors:
        first.setdefault(_known_path(details["loc"], places), details)
    outer = {path[:end] for path in first for end in range(len(path))}
    misspelt = {path[:-1] for path, d in first.items() if d["type"] == "extra_forbidden"}
    return [
        d
        for path, d in first.items()
        if not (path in outer and d["type"].endswith("_type"))
        and not (path in misspelt and d["type"] == "missing")
    ]


def _known_path(loc: tuple[int | str, ...], places: dict[KeyPath, TomlPlace]) -> KeyPath:
    """The part of a location that stands in the file; pydantic adds indices and names of types."""
    path: KeyPath = ()
    for part in loc:
        if isinstance(part, str) and (*path, part) in places:
            path = (*path, part)
    return path


def _invalid(details: ErrorDetails, source: Source, places: dict[KeyPath, TomlPlace]) -> BadManifest:
    path = _known_path(details["loc"], places)
    place = places.get(path, TomlPlace((0, 0), (0, 0)))
    key, value = source.span(*place.key), source.span(*place.value)
    kind, context = details["type"], details.get("ctx", {})
    match kind:
        case "extra_forbidden":
            return _unknown_key(path, key)
        case "missing":
            name = details["loc"][-1]
            return BadManifest(key, f"`{_table(path)}` needs `{name}`")
        case "literal_error":
            expected = str(context["expected"]).replace("'", '"')
            return BadManifest(value, f"expected {expected}, found {_shown(details['input'])}")
        case "greater_than" | "greater_than_equal" | "less_than_equal":
            return BadManifest(value, f"`{path[-1]}` must be {_bound(context)}")
        case "string_pattern_mismatch":
            return BadManifest(
                value, f"`{path[-1]}` does not name an object", help='write it as "package.module:object"'
            )
        case _ if kind in _EXPECTED:
            return BadManifest(value, f"expected {_EXPECTED[kind]}, found {_shown(details['input'])}")
        case _:
            return BadManifest(value, details["msg"][:1].lower() + details["msg"][1:])


def _unknown_key(path: KeyPath, key: Span) -> BadManifest:
    known = known_keys(path[:-1])
    where = f" in `{_table(path[:-1])}`" if path[:-1] else ""
    if path[-1] == "api_key":
        advice = "a manifest holds no secrets: name the variable that does with `api_key_env`"
    elif (near := suggest(path[-1], known)) is not None:
        advice = did_you_mean(near)
    else:
        advice = f"known here: {', '.join(f'`{name}`' for name in known)}"
    return BadManifest(key, f"unknown key `{path[-1]}`{where}", help=advice)


def known_keys(path: KeyPath) -> list[str]:
    """The keys that the table at `path` may have, read from the models."""
    fields = kind_at(path).model_fields
    return [field.alias or name for name, field in fields.items()]


def kind_at(path: KeyPath) -> Any:
    """What may stand at `path`: the model of a table, or the type of a value. Raises LookupError or
    AttributeError if nothing can."""
    model: Any = Manifest
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel):
            names = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _without_none(names[part].annotation)
        else:
            model = get_args(model)[1]  # the values of `dict[str, X]`
    return model


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) is types.UnionType:
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation


def _complete(
    manifest: Manifest, source: Source, places: dict[KeyPath, TomlPlace], problems: Problems
) -> Manifest | None:
    """Settles what depends on two keys at once: providers by name, `[agents.X]` among the hosts."""
    connections = {}
    for name, connection in manifest.connections.items():
        span = source.span(*places[("connections", name)].key)
        connections[name] = _with_provider(name, connection, span, problems)
    for name in manifest.agents.keys() & manifest.hosts.keys():
        span = source.span(*places[("agents", name)].key)
        problems.add(BadManifest(span, f"`{name}` is both in `[hosts]` and in `[agents]`"))
    if problems.errors:
        return None
    hosts = manifest.hosts | manifest.agents
    return manifest.model_copy(update={"connections": connections, "hosts": hosts, "agents": {}})


def _with_provider(name: str, connection: ConnectionTable, span: Span, problems: Problems) -> ConnectionTable:
    if connection.provider is None:
        if name not in PROVIDER_KINDS:
            problems.add(
                BadManifest(
                    span,
                    f"connection `{name}` has no `provider`",
                    help=f"one of {', '.join(PROVIDER_KINDS)}",
                )
            )
            return connection
        connection = connection.model_copy(update={"provider": name})
    if connection.provider == "custom" and connection.base_url is None:
        problems.add(BadManifest(span, f"connection `{name}` has the provider `custom` and no `base_url`"))
    return connection


def _table(path: KeyPath) -> str:
    return f"[{'.'.join(path)}]"


def _bound(context: dict[str, Any]) -> str:
    if "gt" in context:
        return f"greater than {context['gt']:g}"
    return f"at least {context['ge']:g}" if "ge" in context else f"at most {context['le']:g}"


def _shown(value: object) -> str:
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case str():
            return f'"{value}"' if len(value) <= 40 else "a string"
        case int() | float():
            return f"`{value}`"
        case dict():
            return "a table"
        case list():
            return "an array"
        case _:
            return f"a {type(value).__name__}"

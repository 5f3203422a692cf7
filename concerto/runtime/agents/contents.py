"""Contents of messages: parts of a program and what servers give beside text, as text with media."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from concerto.json_data import Json
from concerto.records import replace
from concerto.runtime.llm.requests import Media, Message
from concerto.vm.json_values import to_json
from concerto.vm.values import Struct, Value, failure
from concerto.vocabulary.features import takes
from concerto.vocabulary.providers import PROVIDERS

_DESCRIBED = {"type", "mime_type", "data"}
"""What the result of a server has that is an image, a sound or a file."""
_NAME = "Part"


def asked(prompt: Value) -> Message:
    """A user's message: a text, or an array of Parts."""
    if isinstance(prompt, str):
        return Message("user", prompt)
    if not isinstance(prompt, list) or not all(map(_is_part, prompt)):
        raise failure("a prompt is a String or an array of Parts", "TypeError")
    text, media = content_of([to_json(part) for part in prompt])
    return Message("user", text, media=media)


def content_of(parts: Sequence[Json]) -> tuple[str, tuple[Media, ...]]:
    """The text of Parts in their JSON form, and where in it the others stand."""
    text = ""
    media: list[Media] = []
    for part in parts:
        kind, data, uri = part["kind"], part.get("data", ""), part.get("uri", "")
        said = part.get("text", "")
        if kind == "text" or (said and not data):
            text += ("\n" if text else "") + (f"{uri}\n{said}" if uri else said)
        elif data:
            url = f"data:{part.get('media_type') or 'application/octet-stream'};base64,{data}"
            media.append(Media(kind, url, uri.rpartition("/")[2], len(text)))
        elif uri:
            media.append(Media(kind, uri, after=len(text)))
        else:
            raise failure(f"a part of kind `{kind}` has neither data nor an address", "ValueError")
    return text, tuple(media)


def result_of(value: Value, provider: str) -> tuple[Json, tuple[Media, ...]] | None:
    """The JSON that a model is told of a result with Parts, or with what a server gave beside text, and the
    media that go with it; None for all other results. What the wire does not take is described alone."""
    items = value if isinstance(value, list) else [value]
    if not any(_is_part(item) or _is_described(item) for item in items):
        return None
    wire, media = PROVIDERS[provider].wire, []
    told: list[Json] = []
    for item in items:
        if not _is_part(item) and not _is_described(item):
            told.append(to_json(item))
            continue
        data = to_json(item)
        found = _media(data)
        if found is not None and takes(wire, found.kind, by_url=found.data() is None):
            media.append(found)
        elif found is not None:
            data = {**data, "note": "not shown"}
        told.append({name: each for name, each in data.items() if each and name != "data"})
    if len(told) == 1 and not isinstance(value, list):
        return told[0], tuple(media)
    return told, tuple(media)


def _is_part(value: Value) -> bool:
    return isinstance(value, Struct) and value.type_name == _NAME


def _is_described(value: Value) -> bool:
    return isinstance(value, dict) and value.keys() >= _DESCRIBED and value["type"] in (
        "image", "audio", "resource",
    )  # fmt: skip


def _media(data: Json) -> Media | None:
    """Of a Part in its JSON form, or of what a server gave; None if it is text."""
    if "kind" in data:
        found = content_of([data])[1]
        return replace(found[0], after=None) if found else None
    kind: Any = "file" if data["type"] == "resource" else data["type"]
    return Media(
        kind, f"data:{data['mime_type']};base64,{data['data']}", data.get("uri", "").rpartition("/")[2]
    )

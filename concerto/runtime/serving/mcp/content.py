"""Values of a program as content of the protocol: a `Part` is what it says, all else is text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mcp import types

from concerto.ir.module import TypeDef
from concerto.json_data import Json
from concerto.vm.json_values import to_json
from concerto.vm.values import Struct, Value

_PART = "Part"


def returns_parts(result: int, types_: Sequence[TypeDef]) -> bool:
    """Whether values of a type are Parts: one, or an array."""
    definition = types_[result]
    while definition.kind in ("result", "option", "array"):
        definition = types_[definition.items[0]]
    return definition.kind == "struct" and definition.name == _PART


def parts_of(value: Value) -> list[dict[str, Json]] | None:
    """The Parts that a value is, as JSON; None if it is something else."""
    found = value if isinstance(value, list) else [value]
    if not found or not all(isinstance(each, Struct) and each.type_name == _PART for each in found):
        return None
    return [to_json(each) for each in found]


def text_of(data: Json) -> str:
    """A String as it is, all else as JSON."""
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def block_of(part: dict[str, Json]) -> types.ContentBlock:
    match part["kind"]:
        case "image":
            return types.ImageContent(data=part["data"], mime_type=part["media_type"])
        case "audio":
            return types.AudioContent(data=part["data"], mime_type=part["media_type"])
        case "file":
            return types.EmbeddedResource(resource=contents_of(part, part["uri"], part["media_type"]))
        case _:
            return types.TextContent(text=part["text"])


def contents_of(
    part: dict[str, Json], uri: str, media_type: str
) -> types.TextResourceContents | types.BlobResourceContents:
    """A Part as what stands at an address."""
    if part["data"]:
        return types.BlobResourceContents(uri=uri, mime_type=media_type or None, blob=part["data"])
    return types.TextResourceContents(uri=uri, mime_type=media_type or None, text=part["text"])

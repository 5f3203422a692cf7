"""What a tool of a server answered, as JSON for a program.

A server may answer with structured content, with text, or with images, sounds and resources. For a declared
type the form that fits it is taken; without one structured content comes before text. Everything else is
described as JSON.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from concerto.contracts.comparison import wrapped_result
from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.schema.writing import pruned

if TYPE_CHECKING:
    from mcp.types import BlobResourceContents, CallToolResult, ContentBlock, TextResourceContents


_BINARY = {"type", "mime_type", "bytes", "data"}


def plain_content(result: CallToolResult, schema: Json) -> Json:
    """The answer where no type is declared; `schema` is the server's own for it, or None."""
    if result.structured_content is not None:
        parts = [described(block) for block in result.content if block.type != "text"]
        value = _unwrapped(result.structured_content, schema)
        return [value, *parts] if parts else value
    if len(result.content) == 1:
        return described(result.content[0])
    if all(block.type == "text" for block in result.content):
        return text_of(result)
    return [described(block) for block in result.content]


def fitting_content(
    result: CallToolResult, own: Json, declared: Json, complaint: Callable[[Json], str | None]
) -> Json:
    """The form of the answer that fits a declared type: `complaint` says why one does not. ValueError with
    the first complaint if none does. `own` and `declared` are the schemas of the server and of the
    program."""
    first = ""
    for form in _forms(result, own, declared):
        form = pruned(form, declared, declared)
        said = complaint(form)
        if said is None:
            return form
        first = first or said
    raise ValueError(first)


def parts_content(result: CallToolResult, several: bool) -> Json:
    """The answer where Parts are declared: `several` of them, or one, None if there is none. ValueError if
    there are more."""
    parts = [_part(block) for block in result.content]
    if several:
        return parts
    if len(parts) > 1:
        raise ValueError(f"it has {len(parts)} parts, and one is declared")
    return parts[0] if parts else None


def text_of(result: CallToolResult) -> str:
    """All text of an answer."""
    return "\n".join([block.text for block in result.content if block.type == "text"])


def shows_parts(declared: Json) -> bool:
    """Whether a declared type has a place for what is no text: a text names it, Any and arrays take it."""
    kind = declared.get("type") if isinstance(declared, dict) else None
    return kind in (None, "string", "array", "null")


def described_in_text(block: ContentBlock) -> str:
    """A block of content in a text; of one that is no text, that it was there and what it was."""
    if block.type == "text":
        return block.text
    what = described(block)
    size = f", {what['bytes']} bytes" if "bytes" in what else ""
    name = what.get("uri", "")
    return f"[{' '.join(filter(None, (what['type'], what.get('mime_type'), name)))}{size}: not shown]"


def described(block: ContentBlock) -> Json:
    """One block of content: a text as it is, everything else as an object. Binary data are base64."""
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return _binary(block.type, block.mime_type, block.data)
        case "resource_link":
            link = {"type": "resource_link", "uri": str(block.uri), "name": block.name}
            if block.mime_type is not None:
                link["mime_type"] = block.mime_type
            return link
        case "resource":
            resource = block.resource
            found: dict[str, Json] = {"type": "resource", "uri": str(resource.uri)}
            if resource.mime_type is not None:
                found["mime_type"] = resource.mime_type
            blob = getattr(resource, "blob", None)
            if blob is None:
                return {**found, "text": getattr(resource, "text", "")}
            return {**found, **_binary("resource", found.get("mime_type", ""), blob)}


def _part(block: ContentBlock) -> Json:
    """A block of content as a Part in its JSON form."""
    match block.type:
        case "text":
            return {"kind": "text", "text": block.text}
        case "image" | "audio":
            return {"kind": block.type, "data": block.data, "media_type": block.mime_type}
        case "resource_link":
            return {"kind": "file", "uri": str(block.uri), "media_type": block.mime_type or ""}
        case "resource":
            return contents_part(block.resource)


def contents_part(contents: TextResourceContents | BlobResourceContents) -> Json:
    """What stands at an address as a Part in its JSON form."""
    return {
        "kind": "file",
        "uri": str(contents.uri),
        "media_type": contents.mime_type or "",
        "text": getattr(contents, "text", ""),
        "data": getattr(contents, "blob", ""),
    }


def for_model(value: Json) -> Json:
    """The answer for a model: what it is to see stands at the top, or in the list there."""
    if isinstance(value, list):
        return [item if _is_binary(item) else without_data(item) for item in value]
    return value if _is_binary(value) else without_data(value)


def without_data(value: Json) -> Json:
    """The answer without the data of images and the like, which a model cannot read as base64."""
    if isinstance(value, list):
        return [without_data(item) for item in value]
    if isinstance(value, dict):
        if _is_binary(value):
            return {key: item for key, item in value.items() if key != "data"}
        return {key: without_data(item) for key, item in value.items()}
    return value


def _is_binary(value: Json) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() >= _BINARY
        and value["type"] in ("image", "audio", "resource")
    )


def _forms(result: CallToolResult, own: Json, declared: Json) -> Iterator[Json]:
    """The forms in which an answer may be meant, the likeliest first."""
    kind = declared.get("type") if isinstance(declared, dict) else None
    texts = any(block.type == "text" for block in result.content)
    if kind == "null":
        yield None
    nothing = not result.content and result.structured_content is None
    if kind == "string" and (texts or nothing):
        yield "\n".join([described_in_text(block) for block in result.content])
    if result.structured_content is not None:
        yield _unwrapped(result.structured_content, own)
        yield result.structured_content
    if not declared:
        yield plain_content(result, own)
    if texts:
        with suppress(ValueError):
            yield loads(text_of(result))
        yield text_of(result)
    yield from [described(block) for block in result.content] if len(result.content) == 1 else []
    yield [described(block) for block in result.content]
    if kind == "string":
        yield json.dumps([described(block) for block in result.content], ensure_ascii=False)


def _unwrapped(content: Json, schema: Json) -> Json:
    wrapped = isinstance(content, dict) and list(content) == ["result"]
    if wrapped and isinstance(schema, dict) and wrapped_result(schema) is not None:
        return content["result"]
    return content


def _binary(kind: str, mime_type: str, data: str) -> dict[str, Json]:
    try:
        size = len(b64decode(data, validate=False))
    except ValueError:
        size = len(data)
    return {"type": kind, "mime_type": mime_type, "bytes": size, "data": data}

"""`Part`: pieces of messages that may be more than text."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from typing import TYPE_CHECKING

from concerto.effects.kinds import ReadFile
from concerto.json_data import Json
from concerto.natives.fs import tried
from concerto.vm.native import native
from concerto.vm.values import Ok, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("Part::text", machine=True)
def text_part(machine: Machine, text: str) -> Value:
    return _part(machine, "text", text=text)


@native("Part::image", machine=True)
def image(machine: Machine, data: str, media_type: str) -> Value:
    return _part(machine, "image", **located(data, media_type))


@native("Part::audio", machine=True)
def audio(machine: Machine, data: str, media_type: str) -> Value:
    return _part(machine, "audio", **located(data, media_type))


@native("Part::file", machine=True)
def file(machine: Machine, uri: str, text: str, data: str, media_type: str) -> Value:
    return _part(machine, "file", uri=uri, text=text, data=data, media_type=media_type)


@native("Part::read", machine=True)
def read(machine: Machine, path: str) -> Value:
    found = tried(machine, ReadFile(path, binary=True))
    if not isinstance(found, Ok):
        return found
    return Ok(_part(machine, **of_file(path.replace("\\", "/").rpartition("/")[2], found.value)))


def of_file(name: str, data: str) -> dict[str, str]:
    """The fields of a Part of a file's base64; the end of its name says which kind."""
    media_type = guess_type(name)[0] or "application/octet-stream"
    kind = media_type.partition("/")[0]
    kind = kind if kind in ("image", "audio") else "file"
    return {"kind": kind, "uri": name, "data": data, "media_type": media_type}


def located(data: str, media_type: str) -> dict[str, str]:
    """The fields of what is given as base64, as a `data:` URL or by its address."""
    head, comma, content = data.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return {"data": content, "media_type": head.removeprefix("data:").removesuffix(";base64")}
    if "://" in data:
        return {"uri": data, "media_type": media_type}
    try:
        b64decode(data, validate=True)
    except ValueError:
        raise failure(
            "neither base64 nor an address; `Part::read(path)` reads a file", "ValueError"
        ) from None
    return {"data": data, "media_type": media_type}


def _part(machine: Machine, kind: str, **given: str) -> Value:
    return machine.struct(
        "Part", **({"kind": kind, "text": "", "data": "", "media_type": "", "uri": ""} | given)
    )


def part_values(machine: Machine, text: str, media: Sequence[Mapping[str, Json]]) -> list[Value]:
    """The Parts of a message with media, which are given by their `kind`, `url`, `name` and `after`; none of
    one that is only text."""
    found: list[Value] = []
    begun = 0
    for each in media:
        end = len(text) if each.get("after") is None else each["after"]
        found += _texts(machine, text[begun:end])
        head, comma, data = each["url"].partition(",")
        if comma and head.startswith("data:"):
            media_type = head.removeprefix("data:").partition(";")[0]
            found.append(
                _part(machine, each["kind"], data=data, media_type=media_type, uri=each.get("name", ""))
            )
        else:
            found.append(_part(machine, each["kind"], uri=each["url"]))
        begun = end
    return found + (_texts(machine, text[begun:]) if media else [])


def _texts(machine: Machine, text: str) -> list[Value]:
    text = text.removeprefix("\n")
    return [text_part(machine, text)] if text else []

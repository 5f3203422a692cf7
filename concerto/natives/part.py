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


_USUAL = {"image": "image/png", "audio": "audio/wav", "file": "application/octet-stream"}


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
    return Ok(_part(machine, **of_file(_name(path), found.value)))


def part_from(machine: Machine, kind: str, source: str, media_type: str) -> Value:
    """A Part of a file, of what is at an address, or of base64 with its media type."""
    path = source.partition("?")[0].partition("#")[0] if "://" in source else source
    known = media_type or guess_type(path)[0] or _USUAL[kind]
    if "://" in source or source.startswith("data:") or (media_type and _is_base64(source)):
        return _part(machine, kind, **located(source, known))
    data = machine.host.perform(ReadFile(source, binary=True))
    return _part(machine, kind, uri=_name(source), data=data, media_type=known)


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
    if not _is_base64(data):
        raise failure("neither base64 nor an address; `Part::read(path)` reads a file", "ValueError")
    return {"data": data, "media_type": media_type}


def _is_base64(data: str) -> bool:
    try:
        b64decode(data, validate=True)
    except ValueError:
        return False
    return True


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


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

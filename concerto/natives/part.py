"""`Part`: pieces of messages that may be more than text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.vm.native import native
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("Part::text", machine=True)
def text_part(machine: Machine, text: str) -> Value:
    return _part(machine, "text", text=text)


@native("Part::image", machine=True)
def image(machine: Machine, data: str, media_type: str) -> Value:
    return _part(machine, "image", data=data, media_type=media_type)


@native("Part::audio", machine=True)
def audio(machine: Machine, data: str, media_type: str) -> Value:
    return _part(machine, "audio", data=data, media_type=media_type)


@native("Part::file", machine=True)
def file(machine: Machine, uri: str, text: str, data: str, media_type: str) -> Value:
    return _part(machine, "file", uri=uri, text=text, data=data, media_type=media_type)


def _part(machine: Machine, kind: str, **given: str) -> Value:
    return machine.struct(
        "Part", **({"kind": kind, "text": "", "data": "", "media_type": "", "uri": ""} | given)
    )

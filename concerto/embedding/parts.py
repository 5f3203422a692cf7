"""Prompts that are more than text: pictures, sounds and files beside it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from concerto.natives.part import located, of_file
from concerto.runtime.run.agent_failures import message_of
from concerto.runtime.run.run import Run
from concerto.vm.values import Raised, Value


class Part(BaseModel):
    """A piece of a message: the library's `Part`. Raises ValueError for what is neither bytes, base64 nor an
    address, OSError for a file that cannot be read.

    >>> from concerto import Part
    >>> Part.image(b"...", "image/jpeg").media_type
    'image/jpeg'
    >>> Part.image("https://example.com/cat.png").uri
    'https://example.com/cat.png'
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["text", "image", "audio", "file"]
    text: str = ""
    data: str = ""
    media_type: str = ""
    uri: str = ""

    @classmethod
    def image(cls, source: bytes | str, media_type: str = "image/png") -> Part:
        """A picture from its bytes, from base64, or by its address."""
        return _located("image", source, media_type)

    @classmethod
    def audio(cls, source: bytes | str, media_type: str = "audio/wav") -> Part:
        """A sound from its bytes, from base64, or by its address."""
        return _located("audio", source, media_type)

    @classmethod
    def file(cls, uri: str, text: str = "", data: bytes | str = "", media_type: str = "") -> Part:
        """What stands at an address: its text, or its bytes; without both whoever gets it looks there."""
        return Part(kind="file", uri=uri, text=text, data=_base64(data), media_type=media_type)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Part:
        """A picture, a sound or a file from a file; its name's end says which."""
        file = Path(path)
        return Part.model_validate(of_file(file.name, _base64(file.read_bytes())))


def _located(kind: Literal["image", "audio"], source: bytes | str, media_type: str) -> Part:
    try:
        return Part(kind=kind, **located(_base64(source), media_type))
    except Raised as raised:
        said = message_of(raised.value).replace("Part::", "Part.")
        raise ValueError(said) from None


def _base64(given: bytes | str) -> str:
    return given if isinstance(given, str) else b64encode(given).decode()


def prompt_of(where: str, name: str, given: Any) -> Value | tuple[Part, ...]:
    """What an agent is asked: a text, or texts and Parts; a path stands for what its file holds."""
    if isinstance(given, str):
        return str(given)
    if isinstance(given, Sequence) and not isinstance(given, bytes) and given:
        return tuple([_part(where, name, each) for each in given])
    raise _odd(where, name, given)


def _part(where: str, name: str, given: Any) -> Part:
    match given:
        case str():
            return Part(kind="text", text=given)
        case Part():
            return given
        case PathLike():
            return Part.read(given)
        case _:
            raise _odd(where, name, given)


def _odd(where: str, name: str, given: object) -> TypeError:
    forms = "a text, or a list of texts, paths of files and `concerto.Part`s"
    return TypeError(f"`{where}` takes {forms} as `{name}`, not {type(given).__name__}")


def value_of(run: Run, prompt: Value | tuple[Part, ...]) -> Value:
    """A prompt as a value of a run."""
    if not isinstance(prompt, tuple):
        return prompt
    return [run.machine.struct("Part", **each.__dict__) for each in prompt]

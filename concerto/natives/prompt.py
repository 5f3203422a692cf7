"""`std::prompt`: prompts from templates, and their size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from concerto.natives import limits
from concerto.natives.fs import read_file
from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import Ok, Value, failure

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_PLACE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_WORD = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]")


@native("std::prompt::template")
def template(text: str, values: dict[str, Value]) -> str:
    length = len(text)

    def fill(place: re.Match[str]) -> str:
        nonlocal length
        name = place.group(1)
        if name not in values:
            raise failure(f"the template asks for `{name}`, which has no value", "KeyError")
        filled = to_text(values[name])
        length = limits.size(length + len(filled))
        return filled

    return _PLACE.sub(fill, text)


@native("std::prompt::from_file", machine=True)
def from_file(machine: Machine, path: str, values: dict[str, Value]) -> Value:
    text = read_file(machine, path)
    return Ok(template(text.value, values)) if type(text) is Ok else text


@native("std::prompt::count_tokens")
def count_tokens(text: str, model: str = "") -> int:
    """Words of up to six letters, groups of three digits and single marks are about a token each in the
    vocabularies in use, whichever the model."""
    return sum((len(word) + 5) // 6 for word in _WORD.findall(text))

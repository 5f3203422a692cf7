"""`std::fmt`: building texts."""

from __future__ import annotations

import math
import re

import concerto.natives.string  # noqa: F401 - registers the paddings
from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import Value, failure
from concerto.wording import counted

_PLACE = re.compile(r"\{\{|\}\}|\{\}|[{}]")


@native("std::fmt::format")
def format_text(template: str, values: list[Value]) -> str:
    marks = _PLACE.findall(template)
    if "{" in marks or "}" in marks:
        raise failure("a brace in `format` is written `{{` or `}}`", "ValueError")
    places = marks.count("{}")
    if places != len(values):
        found = f"{counted(places, 'place')} for {counted(len(values), 'value')}"
        raise failure(f"`format` has {found}", "ValueError")
    texts = [to_text(value) for value in values]
    limits.size(len(template) + sum(map(len, texts)))
    left = iter(texts)
    return _PLACE.sub(lambda place: next(left) if place.group() == "{}" else place.group()[0], template)


@native("std::fmt::decimals")
def decimals(number: float, places: int) -> str:
    if not math.isfinite(number):
        return to_text(number)
    return f"{number:.{limits.size(limits.count(places, 'a number of decimals'))}f}"


@native("std::fmt::truncate")
def truncate(text: str, length: int, ending: str = "...") -> str:
    if len(text) <= limits.count(length, "a length"):
        return text
    return text[: length - len(ending)] + ending if length > len(ending) else ending[:length]


@native("std::fmt::indent")
def indent(text: str, spaces: int) -> str:
    margin = " " * limits.size(limits.count(spaces, "an indent"))
    limits.size(len(margin) * (text.count("\n") + 1))
    return "\n".join(margin + line if line.strip() else line for line in text.split("\n"))

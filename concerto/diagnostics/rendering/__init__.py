"""Turns problems into text: for people, or as JSON, SARIF or GitHub annotations for tools."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from concerto.diagnostics.problem import Problem

FORMATS = ("text", "json", "sarif", "github")


def render(
    problems: Iterable[Problem],
    format: str = "text",  # noqa: A002  the word of the option
    *,
    color: bool = False,
) -> str:
    """The problems in one of `FORMATS`; empty, or text that ends in a line break.

    Colour applies to `text` alone. Each format is a module with a function `render`, loaded when
    it is asked for.
    """
    assert format in FORMATS, f"no diagnostic format {format!r}"
    found = list(problems)
    if format != "text":
        text: str = import_module(f"concerto.diagnostics.rendering.{format}_format").render(found)
        return text
    from concerto.diagnostics.rendering import layout

    if not color:
        return layout.plain(layout.lay_out(found))
    from concerto.diagnostics.rendering.colors import colored, highlighter

    return colored(layout.lay_out(found, highlighter()))

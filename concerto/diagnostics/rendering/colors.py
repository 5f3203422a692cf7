"""Colours a layout for terminals. The only module of the compiler that imports rich."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.text import Text

from concerto.diagnostics.rendering.layout import Line

_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "strong": "bold",
    "gutter": "blue",
    "related": "cyan",
    "": "",
}


def colored(lines: Iterable[Line]) -> str:
    """The text of `layout.plain` with ANSI colours."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", legacy_windows=False)
    for line in lines:
        console.print(Text.assemble(*((text, _STYLES[style]) for style, text in line)), soft_wrap=True)
    return out.getvalue()

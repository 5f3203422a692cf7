"""Colours a layout for terminals. The only module of the compiler that imports rich and Pygments."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from io import StringIO

from pygments.token import Name, Whitespace
from rich.console import Console
from rich.style import Style
from rich.syntax import ANSI_DARK, ANSISyntaxTheme
from rich.text import Text

from concerto.diagnostics.rendering.layout import Highlighter, Line, uncolored
from concerto.highlighting import ConcertoLexer
from concerto.source import Source

_STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "strong": "bold",
    "gutter": "blue",
    "related": "cyan",
}

# Underlined names would look like marks.
_THEME = ANSISyntaxTheme(ANSI_DARK | {Name.Class: Style(color="bright_green"), Whitespace: Style()})

# Beyond this the colours of a few lines are not worth the time.
_LONGEST_SOURCE = 200_000


def colored(lines: Iterable[Line]) -> str:
    """The text of `layout.plain` with ANSI colours."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", legacy_windows=False)
    for line in lines:
        pieces = ((text, _STYLES.get(style, style)) for style, text in line)
        console.print(Text.assemble(*pieces), soft_wrap=True)
    return out.getvalue()


def highlighter() -> Highlighter:
    """Colours the lines of programs; those of other files stay as they are."""
    lines_of = cache(_highlighted)

    def highlight(source: Source, number: int) -> Line:
        if not source.path.endswith(".conc") or len(source.text) > _LONGEST_SOURCE:
            return uncolored(source, number)
        return lines_of(source)[number - 1]

    return highlight


def _highlighted(source: Source) -> list[Line]:
    """All lines of a program: what a line means may depend on those before it."""
    lines: list[Line] = [[]]
    for _, kind, text in ConcertoLexer().get_tokens_unprocessed(source.text):
        style = str(_THEME.get_style_for_token(kind))
        first, *rest = text.split("\n")
        lines[-1].append((style, first))
        lines += [[(style, line)] for line in rest]
    return lines

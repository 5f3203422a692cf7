"""Pieces of Markdown."""

from __future__ import annotations


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def code(text: str) -> str:
    """Inline code, whatever the text has in it."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def cell(text: str) -> str:
    """Text for a table."""
    return text.replace("|", r"\|").replace("\n", " ")


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)


def joined(*parts: str) -> str:
    """Paragraphs, those that are empty left out."""
    return "\n\n".join(part for part in parts if part) + "\n"

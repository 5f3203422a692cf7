"""Articles, pluralization and shortening: words that depend on a number, and texts that may be long."""

from __future__ import annotations


def counted(number: float, noun: str) -> str:
    """`1 second`, `2.5 seconds`, `0 turns`."""
    shown = str(number) if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun}" if number == 1 else f"{shown} {noun}s"


def with_article(word: str) -> str:
    """A name of a type with `a` or `an` before it."""
    return f"{'an' if word[:1] in 'AEIOaeio' else 'a'} `{word}`"


def shortened(text: str, most: int) -> str:
    """The text in `most` characters; `…` stands for an end that was cut off."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cost_text(usd: float | None) -> str:
    """What something has cost; None if a price is not known."""
    return "unknown cost" if usd is None else f"{usd:.4f} USD"

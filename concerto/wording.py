"""Articles, pluralization and shortening: words that depend on a number, and texts that may be long."""

from __future__ import annotations

from collections.abc import Sequence

# Names that a message tells: who has forgotten hundreds needs no list of them.
_MOST_SHOWN = 8


def counted(number: float, noun: str) -> str:
    """`1 second`, `2.5 seconds`, `0 turns`."""
    shown = str(number) if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun}" if number == 1 else f"{shown} {noun}s"


def with_article(word: str) -> str:
    """A name of a type with `a` or `an` before it."""
    return f"{'an' if word[:1] in 'AEIOaeio' else 'a'} `{word}`"


def listed(names: Sequence[str]) -> str:
    """Names in backticks with commas, the first of them `and 292 more` if they are many."""
    shown = [f"`{name}`" for name in names]
    more = _left_out(names)
    return f"{', '.join(shown[:-more])} and {more} more" if more else ", ".join(shown)


def first_of(parts: Sequence[str], separator: str) -> str:
    """The parts of a text, the first of them if they are many: `a | b | … 292 more`."""
    more = _left_out(parts)
    return separator.join([*parts[:-more], f"… {more} more"] if more else parts)


def _left_out(parts: Sequence[str]) -> int:
    return len(parts) - _MOST_SHOWN if len(parts) > _MOST_SHOWN + 1 else 0


def shortened(text: str, most: int) -> str:
    """The text in `most` characters; `…` stands for an end that was cut off."""
    return text if len(text) <= most else text[: most - 1] + "…"


def cost_text(usd: float | None) -> str:
    """What something has cost; None if a price is not known."""
    return "unknown cost" if usd is None else f"{usd:.4f} USD"

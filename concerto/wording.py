"""Words of messages that depend on a number."""

from __future__ import annotations


def counted(number: float, noun: str) -> str:
    """`1 second`, `2.5 seconds`, `0 turns`."""
    shown = str(number) if isinstance(number, int) else f"{number:g}"
    return f"{shown} {noun}" if number == 1 else f"{shown} {noun}s"

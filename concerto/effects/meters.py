"""Meters: what a run, an execution or a decorated part of it may spend, and what it has spent.

A `Meter` is shared by all calls that count against it. The budget layer reads it before a model call and
adds to it after; nothing else changes it.
"""

from __future__ import annotations


class Meter:
    """Limits of None are none. A cost of None means that a price was not known."""

    __slots__ = ("most_tokens", "most_usd", "name", "tokens", "usd")

    def __init__(self, name: str, most_tokens: int | None = None, most_usd: float | None = None) -> None:
        self.name = name
        self.most_tokens = most_tokens
        self.most_usd = most_usd
        self.tokens = 0
        self.usd = 0.0

    def add(self, tokens: int, usd: float | None) -> None:
        self.tokens += tokens
        self.usd += usd or 0.0

    def exhausted(self) -> str | None:
        """Why nothing more may be spent, or None."""
        if self.most_tokens is not None and self.tokens >= self.most_tokens:
            return f"{self.name} allows {self.most_tokens} tokens, {self.tokens} are spent"
        if self.most_usd is not None and self.usd >= self.most_usd:
            return f"{self.name} allows {self.most_usd:g} USD, {self.usd:.4g} are spent"
        return None

"""Checks the brackets of a token list."""

from __future__ import annotations

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax.lexer import Lexed
from concerto.syntax.tokens import Token


def balance(source: Source, lexed: Lexed, problems: Problems) -> list[Token] | None:
    return lexed.tokens

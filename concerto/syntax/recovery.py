"""Goes on after a syntax error: reports it and gives up the rest of the file."""

from __future__ import annotations

from concerto.diagnostics import Problems, UnexpectedToken
from concerto.source import Source, Span
from concerto.syntax.lexer import Lexed
from concerto.syntax.machine import Machine
from concerto.syntax.tokens import END, Token


class Recovery:
    def __init__(self, source: Source, problems: Problems, lexed: Lexed) -> None:
        self.source = source
        self.problems = problems

    def repair(self, machine: Machine, tokens: list[Token], position: int) -> int:
        token = tokens[position]
        found = "the end of the file" if token.kind == END else f"`{token.text}`"
        self.problems.add(UnexpectedToken(Span(self.source, token.start, token.end), f"unexpected {found}"))
        machine.cut(2 if len(machine.states) > 1 else 1)
        return len(tokens) - 1

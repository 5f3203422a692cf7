"""The formatter: four spaces, lines of 100, comments and single empty lines kept.

The result parses to the same tree, and formatting it again changes nothing. What is a matter of
taste stays as the author has it: the spelling of literals, parentheses around operands, short blocks
and declarations on one line, a broken line behind a `{` or before a `.`.
"""

from __future__ import annotations

from typing import Final

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax import ast
from concerto.syntax.layout import WIDTH, render
from concerto.syntax.parser import parse
from concerto.syntax.printing import Printer

_MOST_ROUNDS: Final = 5


def format_module(module: ast.Module) -> str:
    """The formatted text of a module that was parsed without an error."""
    printed = _print(module)
    # A line broken for want of room counts as the author's the next time, which may move what is around it.
    for _ in range(_MOST_ROUNDS):
        problems = Problems()
        again = _print(parse(Source(module.source.path, printed), problems))
        assert not problems.errors, "what was printed is no program"
        if again == printed:
            break
        printed = again
    return printed


def _print(module: ast.Module) -> str:
    printer = Printer(module)
    return render(printer.run(printer.module(module)), WIDTH)

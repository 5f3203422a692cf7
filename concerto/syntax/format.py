"""The formatter: four spaces, lines of 100, comments and single empty lines kept.

The result parses to the same tree, and formatting it again changes nothing. What is a matter of
taste stays as the author has it: the spelling of literals, parentheses around operands, short blocks
and declarations on one line, a broken line behind a `{` or before a `.`.
"""

from __future__ import annotations

from concerto.syntax import ast
from concerto.syntax.layout import render
from concerto.syntax.printing import Printer
from concerto.syntax.unparse import WIDTH


def format_module(module: ast.Module) -> str:
    """The formatted text of a module that was parsed without an error."""
    printer = Printer(module)
    return render(printer.run(printer.module(module)), WIDTH)

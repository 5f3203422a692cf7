"""Syntax trees to text, without a source: for messages, and to show that printing loses nothing."""

from __future__ import annotations

from concerto.syntax import ast
from concerto.syntax.layout import render
from concerto.syntax.printing import Printer

WIDTH = 100


def unparse(
    node: ast.Module | ast.Item | ast.Stmt | ast.Expr | ast.Pattern | ast.TypeExpr, width: int = WIDTH
) -> str:
    """Text that parses to the same tree. Comments and the spelling of literals are not in the tree."""
    printer = Printer(None)
    return render(printer.run(printer.node(node)), width)

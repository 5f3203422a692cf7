"""Prints syntax trees: `Printer` turns nodes into documents of `concerto.syntax.layout`.

A method that prints a node is a generator: it yields the printings of the nodes inside and gets
their documents back, and `Printer.run` drives them with a stack of its own. So a tree of any depth
is printed without recursion.
"""

from __future__ import annotations

from concerto.syntax.printing.printer import Printer

__all__ = ["Printer"]

"""What writes each opcode: a table filled by the modules of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from concerto.ir.module import Instr
from concerto.vm.python_tier.expression import Expr, compound
from concerto.vm.python_tier.strings import has_strings
from concerto.vm.python_tier.writer import FunctionWriter

Writing: TypeAlias = Callable[[FunctionWriter, Instr], None]

WRITERS: dict[str, Writing] = {}


def writes(*names: str) -> Callable[[Writing], Writing]:
    """Register how opcodes are written: taking operands off the symbolic stack, and pushing onto it, or as a
    statement."""

    def register(writing: Writing) -> Writing:
        for opcode in names:
            WRITERS[opcode] = writing
        return writing

    return register


def listed(parts: Sequence[Expr]) -> str:
    """Values as arguments or elements."""
    return ", ".join([part.text for part in parts])


def unfolded(writer: FunctionWriter, expr: Expr) -> Expr:
    """A value of which CPython computes nothing when it compiles: literals of strings are put in later."""
    if not has_strings(expr.text):
        return expr
    first, _ = writer.renamed(expr)
    return compound(first, (expr,), expr.fact, atom=True)

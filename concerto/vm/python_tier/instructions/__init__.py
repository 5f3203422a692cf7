"""What each instruction becomes in Python. Most follow the template of the opcode table, the rest have a
function."""

from __future__ import annotations

from concerto.ir.module import Instr
from concerto.vm.python_tier.instructions import (
    building,
    calls,
    cases,
    numbers,
    parts,
    plain,
    sets,
    templates,
    texts,
)
from concerto.vm.python_tier.instructions.numbers import negation
from concerto.vm.python_tier.instructions.registry import WRITERS
from concerto.vm.python_tier.writer import FunctionWriter

__all__ = ["negation", "write_step"]

# Importing a module registers what it writes.
_REGISTERED = (templates, plain, numbers, building, cases, parts, sets, texts, calls)


def write_step(writer: FunctionWriter, instr: Instr) -> None:
    """Write a plain instruction: onto the symbolic stack, or as a statement."""
    WRITERS[instr[0]](writer, instr)

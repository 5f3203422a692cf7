"""Stack effects: how many values an instruction takes and leaves, by the pictures of the opcode table."""

from __future__ import annotations

import re

from concerto.ir.module import Instr
from concerto.ir.opcodes import OPCODES, Opcode


def _part_counts(part: str) -> tuple[int, int]:
    """Values on one side of a picture: the fixed ones and those per `count`."""
    fixed = per_count = 0
    for group, single in re.findall(r"(\([^)]*\)\*\w+)|(\S+)", part):
        if group:
            per_count += len(group[1 : group.index(")")].split())
        elif "*" in single:
            per_count += 1
        else:
            fixed += 1
    return fixed, per_count


def _effect(opcode: Opcode) -> tuple[int, int, int, int]:
    before, after = opcode.stack.split("->")
    pops, per_count = _part_counts(before)
    count = opcode.operands.index("count") + 1 if per_count else 0
    return pops, per_count, count, _part_counts(after)[0]


EFFECTS: dict[str, tuple[int, int, int, int]] = {name: _effect(opcode) for name, opcode in OPCODES.items()}
"""Opcode → values taken, values taken per `count`, place of `count` in the instruction, values left."""


def pops(instr: Instr) -> int:
    """Values an instruction takes."""
    fixed, per_count, place, _ = EFFECTS[instr[0]]
    return fixed + per_count * int(instr[place]) if per_count else fixed


def pushes(instr: Instr) -> int:
    """Values an instruction leaves."""
    return EFFECTS[instr[0]][3]


ENDS_PATH = frozenset({"BR", "THROW", "RETHROW", "RETURN", "PANIC"})
"""After these nothing is reached before the next ELSE, CASE, DEFAULT, CATCH or END of the region."""

OPENS_REGION = frozenset({"BLOCK", "LOOP", "FOR", "IF", "SWITCH", "TRY"})

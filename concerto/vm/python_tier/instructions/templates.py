"""Opcodes that are one expression or statement, by the templates of the opcode table."""

from __future__ import annotations

from concerto.ir.module import Instr
from concerto.ir.opcodes import OPCODES, Opcode
from concerto.ir.stack import EFFECTS
from concerto.vm.python_tier.expression import KINDS, LEVELS, READ, UNKNOWN, Expr
from concerto.vm.python_tier.instructions.registry import WRITERS, Writing
from concerto.vm.python_tier.writer import FunctionWriter


def _by_template(opcode: Opcode) -> Writing:
    count = EFFECTS[opcode.name][0]
    level = LEVELS[opcode.effect]
    fact = KINDS.get(opcode.gives.rstrip("!"), UNKNOWN)
    if not opcode.stack.split("->")[1].strip():
        return _statement(opcode, count)
    atom = opcode.python.endswith(")") and "(" in opcode.python.split(" ")[0]
    atom = (
        atom
        or opcode.python.isidentifier()
        or opcode.python.startswith("{0}.")
        or opcode.python.endswith("]")
    )
    template = opcode.python
    operand = opcode.operands[0] if opcode.operands else ""

    def computed(writer: FunctionWriter, instr: Instr) -> None:
        parts = tuple(writer.pop_many(count))
        text = _fill(writer, template, operand, instr, parts)
        writer.compute(text, parts, fact, level, atom=atom)

    return computed


def _statement(opcode: Opcode, count: int) -> Writing:
    """An assignment to a part, whose value Python computes before the place, or a call for its effect."""
    assigns = " = " in opcode.python
    operand = opcode.operands[0] if opcode.operands else ""

    def acted(writer: FunctionWriter, instr: Instr) -> None:
        parts = writer.pop_many(count)
        if assigns:
            parts = place_first(writer, parts)
        text = _fill(writer, opcode.python, operand, instr, tuple(parts))
        writer.act(writer.mark(text))

    return acted


def place_first(writer: FunctionWriter, parts: list[Expr]) -> list[Expr]:
    """Operands of an assignment, the place computed before the value if it makes a difference."""
    if parts[-1].level >= READ and any(part.level >= READ for part in parts[:-1]):
        writer.stack += parts
        for place in range(len(writer.stack) - len(parts), len(writer.stack) - 1):
            if writer.stack[place].level >= READ:
                writer.spill(place)
        return writer.pop_many(len(parts))
    return parts


def _fill(writer: FunctionWriter, template: str, operand: str, instr: Instr, parts: tuple[Expr, ...]) -> str:
    texts = [part.wrapped for part in parts]
    match operand:
        case "":
            return template.format(*texts)
        case "name":
            return template.format(*texts, name=writer.names.text(instr[1]))
        case _:
            return template.format(*texts, **{operand: int(instr[1])})


for _opcode in OPCODES.values():
    if _opcode.python:
        # A function of its own goes before the template.
        WRITERS.setdefault(_opcode.name, _by_template(_opcode))

"""Regions that are one expression: both arms of an IF only compute."""

from __future__ import annotations

from concerto.vm.python_tier.expression import KINDS, Expr, compound
from concerto.vm.python_tier.instructions import negation, write_step
from concerto.vm.python_tier.tree import Region, Step
from concerto.vm.python_tier.writer import FunctionWriter


def write_conditional(writer: FunctionWriter, region: Region) -> None:
    """Push what one of the arms gives."""
    condition = writer.pop()
    state = writer.snapshot()
    writer.inside_expression += 1
    arms: list[Expr] = []
    for arm, test in zip(region.arms, (condition, negation(condition)), strict=True):
        writer.resume(state, test)
        for node in arm.nodes:
            writer.pc = node.pc
            if isinstance(node, Region):
                write_conditional(writer, node)
            elif isinstance(node, Step):
                write_step(writer, node.instr)
        arms.append(writer.pop())
    writer.inside_expression -= 1
    writer.resume(state)
    writer.push(conditional(condition, arms[0], arms[1]))


def conditional(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """`yes if condition else no`, or `and`, or `or`."""
    parts = (condition, yes, no)
    if no.text == "False" and yes.fact.kind == "bool":
        made = compound(f"{condition.wrapped} and {yes.wrapped}", parts, KINDS["bool"])
        made.tests = condition.tests + yes.tests
        return made
    if yes.text == "True" and no.fact.kind == "bool":
        made = compound(f"{condition.wrapped} or {no.wrapped}", parts, KINDS["bool"])
        made.denied = condition.denied + no.denied
        return made
    text = f"({yes.wrapped} if {condition.wrapped} else {no.wrapped})"
    made = compound(text, parts, yes.fact.join(no.fact), atom=True)
    if yes.opened is not None and no.opened is not None and yes.opened[0] == no.opened[0]:
        made.opened = yes.opened[0], f"({yes.opened[1]} if {condition.wrapped} else {no.opened[1]})"
    return made

"""IF and SWITCH as `if … elif … else`."""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

from concerto.vm.python_tier.block_writer import BlockWriter
from concerto.vm.python_tier.context import Context, Nodes, Outcome
from concerto.vm.python_tier.expression import KINDS, Expr, compound, name
from concerto.vm.python_tier.instructions import negation
from concerto.vm.python_tier.tree import Arm, Region
from concerto.vm.python_tier.writer import FunctionWriter

Choices: TypeAlias = list[tuple[Expr | None, Arm]]
"""Arms with their conditions; the last one, without, is the `else`."""


def choices_of(writer: FunctionWriter, region: Region, subject: Expr) -> Choices:
    """The arms with their conditions; the last one, without, is the `else`."""
    if region.kind == "IF":
        return [(subject, region.arms[0]), (None, region.arms[1] if len(region.arms) > 1 else Arm())]
    if not subject.cheap:
        made = writer.temporary()
        writer.line(f"{made} = {subject.text}")
        subject = name(made, subject.fact)
    cases: Choices = []
    default = Arm()
    for arm in region.arms:
        if arm.default:
            default = arm
        else:
            cases.append((label_test(writer, subject, arm), arm))
    return [*cases, (None, default)]


def label_test(writer: FunctionWriter, subject: Expr, arm: Arm) -> Expr:
    """Whether a subject has one of an arm's labels."""
    constants = [writer.constant(label).text for label in arm.labels]
    if len(constants) == 1:
        return compound(f"{subject.text} == {constants[0]}", (subject,), KINDS["bool"])
    return compound(f"{subject.text} in ({', '.join(constants)})", (subject,), KINDS["bool"])


def write_arms(control: BlockWriter, choices: Choices, context: Context) -> bool:
    """`if … elif … else`; an arm's sequence ends with the region's END."""
    writer = control.writer
    state = writer.snapshot()
    falls = False
    word = "if"
    for test, arm in choices:
        if test is not None:
            writer.resume(state, test)
            writer.line(f"{word} {test.text}:")
            word = "elif"
            falls |= control.write_block(deque(arm.nodes), context)
            continue
        only = choices[0][0] if len(choices) == 2 else None
        writer.resume(state, None if only is None else negation(only))
        nodes = deque(arm.nodes)
        alone = word == "if"
        falls |= control.write_sequence(nodes, context) if alone else control.write_otherwise(nodes, context)
    return falls


def write_single_way(
    control: BlockWriter, choices: Choices, falling: Arm, rest: Nodes, context: Context
) -> Outcome:
    """Only one arm comes to the END, so what follows the region belongs to it: its value stays symbolic,
    and if the other arms jump away it need not even be indented."""
    writer = control.writer
    rest.extendleft(reversed(falling.nodes))
    if len(choices) == 2:
        test = choices[0][0]
        assert test is not None
        opposite = negation(test)
        if falling is choices[0][1]:
            return control.write_fork(opposite, deque(choices[1][1].nodes), test, rest, context)
        return control.write_fork(test, deque(choices[0][1].nodes), opposite, rest, context)
    state = writer.snapshot()
    word = "if"
    for test, arm in choices:
        writer.resume(state, test)
        if test is None and word == "if":
            return "falls" if control.write_sequence(rest, context) else "jumps"
        writer.line(f"{word} {test.text}:" if test is not None else "else:")
        word = "elif"
        control.write_block(rest if arm is falling else deque(arm.nodes), context)
    return "falls"

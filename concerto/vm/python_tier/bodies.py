"""Inlining: what a function gives, written where it is called, if its body is one expression.

A `let` becomes a name in the expression, `return` in an arm of an `if` or a `match` becomes an arm of a
conditional expression.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from concerto.vm.python_tier.choices import label_test
from concerto.vm.python_tier.conditionals import conditional, write_conditional
from concerto.vm.python_tier.expression import PURE, Expr, compound, name
from concerto.vm.python_tier.instructions import negation, write_step
from concerto.vm.python_tier.loop_ranges import Rounds
from concerto.vm.python_tier.small_functions import is_written, quiet_loads
from concerto.vm.python_tier.tree import Arm, Node, Region, Step
from concerto.vm.python_tier.writer import FunctionWriter, is_longer, unmarked

_LONGEST = 600

_QUIET = re.compile(r"\w+(\.f\d+)+")
"""Parts of a name."""

_DEEPEST = 4
"""So many bodies are written into one another: each is also written alone, with those inside of it."""

FEW_LOADS = 2
"""Parts of a name are read as often again instead of being kept."""


@dataclass(slots=True)
class Body:
    """`made` is what a function gives once the names of `before` have their values."""

    before: list[tuple[str, Expr]]
    made: Expr

    def alone(self) -> Expr:
        """All of it as one expression."""
        return after(self.before, self.made)


def body_of(writer: FunctionWriter, index: int, given: Sequence[Expr]) -> Body | None:
    """What a function gives, with its captures and arguments, which may be written more than once; None if it
    has to be called."""
    around = writer.way[::2]
    if index in around or len(around) > _DEEPEST:
        # A function that comes to itself, through closures as well, is called there.
        return None
    function = writer.module.functions[index]
    if len(given) != function.captures + len(function.parameters) or not is_written(function):
        return None
    inner = FunctionWriter(
        writer.module, index, writer.names, writer.openings, Rounds(),
        general=writer.general, marked=writer.marked,
    )  # fmt: skip
    inner.inside_expression = 1
    inner.way = (*writer.way, writer.pc, index)
    inner.temporaries = writer.temporaries
    inner.given.update(enumerate(given))
    for number in writer.openings.takes_items(index, len(given)):
        inner.given[number] = inner.items_of(given[number])
    for number, part in inner.given.items():
        inner.learn(number, part.fact)
    sequence = _Sequence(inner, quiet_loads(function))
    made = sequence.value(writer.openings.trees[index].arms[0].nodes, tail=True)
    if made is None or inner.lines or inner.needs_statements or is_longer(made.text, _LONGEST):
        return None
    writer.calls += inner.calls
    writer.temporaries = inner.temporaries
    writer.explained += inner.explained
    writer.definitions.update(inner.definitions)
    for places, texts in inner.operands.items():
        writer.operands[((writer.index, writer.pc), *places)] = texts
    made = replace(
        made, cheap=made.cheap and made.level == PURE,
        local=-1, steps=(), tests=(), denied=(), items=(),
        pairs=None, characters=None, copied=None, walk=None,
    )  # fmt: skip
    return Body(sequence.before, made)


def is_part(expr: Expr) -> bool:
    """Whether a value is a part of a name."""
    return _QUIET.fullmatch(unmarked(expr.text)) is not None


class _Sequence:
    """Nodes as one expression, and what has to be named before."""

    def __init__(self, inner: FunctionWriter, loads: Counter[int]) -> None:
        self.inner = inner
        self.loads = loads
        self.before: list[tuple[str, Expr]] = []

    def value(self, nodes: Sequence[Node], *, tail: bool) -> Expr | None:
        """What nodes return, or leave on the stack at their end; with `tail` that is what the function
        returns."""
        inner = self.inner
        height = len(inner.stack)
        for place, node in enumerate(nodes):
            inner.pc = node.pc
            match node:
                case Step(instr=("RETURN",)):
                    return inner.pop() if tail and len(inner.stack) == height + 1 else None
                case Step(instr=("STORE_LOCAL", number)):
                    stored = inner.pop()
                    if len(inner.stack) > height or number in inner.given:
                        return None
                    self.store(number, stored)
                case _ if not _reads(node) <= inner.given.keys():
                    return None
                case Step():
                    write_step(inner, node.instr)
                case Region() if node.simple:
                    write_conditional(inner, node)
                case Region(kind="IF" | "SWITCH", branched=False):
                    rest = nodes[place + 1 :] if tail and len(inner.stack) == height + 1 else None
                    made, goes_on = self.choice(node, rest)
                    if made is None or not goes_on:
                        return made
                    inner.push(made)
                case _:
                    return None
        if len(inner.stack) > height:
            return inner.pop()
        return Expr("None", cheap=True, stable=True, literal=True) if tail else None

    def store(self, number: int, stored: Expr) -> None:
        """Give a local a name: that of its value, or one for what is computed before the rest."""
        inner = self.inner
        kind = inner.open_locals.get(number)
        if kind is not None:
            stored = compound(inner.opened(kind, stored), (stored,))
        if stored.cheap or (is_part(stored) and 0 < self.loads[number] <= FEW_LOADS):
            inner.given[number] = replace(stored, cheap=True)
        else:
            made = inner.temporary()
            self.before.append((made, stored))
            inner.given[number] = name(made)
        inner.learn(number, stored.fact)

    def choice(self, region: Region, rest: Sequence[Node] | None) -> tuple[Expr | None, bool]:
        """An IF or SWITCH; true if the nodes after it are still to come. `rest` are these if what is given
        there is what the function returns."""
        choices = self.choices(region)
        falling = [arm for _, arm in choices if arm.falls]
        goes_on = len(falling) == len(choices)
        if not region.result if goes_on else rest is None or len(falling) > 1:
            return None, False
        inner, given = self.inner, self.inner.given
        state = inner.snapshot()
        tests: list[Expr] = []
        values: list[Expr] = []
        for test, arm in choices:
            condition = test
            if test is None and len(tests) == 1:
                condition = negation(tests[0])
            inner.resume(state, condition)
            inner.given = dict(given)
            nodes = [*arm.nodes, *(rest or ())] if arm.falls and not goes_on else arm.nodes
            sequence = _Sequence(inner, self.loads)
            value = sequence.value(nodes, tail=not goes_on)
            if value is None:
                return None, False
            values.append(after(sequence.before, value))
            if test is not None:
                tests.append(test)
        inner.resume(state)
        inner.given = given
        made = values.pop()
        while tests:
            made = conditional(tests.pop(), values.pop(), made)
        return made, goes_on

    def choices(self, region: Region) -> list[tuple[Expr | None, Arm]]:
        """The arms with their conditions, which are asked one after the other; the last one has none."""
        inner = self.inner
        subject = inner.pop()
        if region.kind == "IF":
            return [(subject, region.arms[0]), (None, region.arms[1] if len(region.arms) > 1 else Arm())]
        cases: list[tuple[Expr | None, Arm]] = []
        labelled = [arm for arm in region.arms if not arm.default]
        for arm in labelled:
            again = subject
            if not subject.cheap and not cases and len(labelled) > 1:
                first, text = inner.renamed(subject)
                subject, again = (
                    compound(first, (subject,), subject.fact, atom=True),
                    name(text, subject.fact),
                )
            cases.append((label_test(inner, subject, arm), arm))
            subject = again
        default = [arm for arm in region.arms if arm.default]
        return [*cases, (None, default[0] if default else Arm())]


def _reads(node: Node) -> set[int]:
    """The locals that a step or a simple region reads."""
    match node:
        case Step(instr=("LOAD_LOCAL", number)):
            return {number}
        case Region() if node.simple:
            return set().union(*[_reads(inner) for arm in node.arms for inner in arm.nodes])
        case _:
            return set()


def after(before: Sequence[tuple[str, Expr]], made: Expr) -> Expr:
    """An expression after others are computed, of which none gives what is compared with."""
    for named, stored in reversed(before):
        test = f"({named} := {stored.text}) is not each"
        after = compound(f"({made.text} if {test} else None)", (stored, made), made.fact, atom=True)
        if made.opened is not None:
            after.opened = made.opened[0], f"({made.opened[1]} if {test} else None)"
        made = after
    return made

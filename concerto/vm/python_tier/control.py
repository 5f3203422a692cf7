"""Regions as Python statements.

`write_sequence` writes nodes one after the other in a `Context`, which says what a branch to an outer
region can be here: nothing at all, where falling off the end of the Python block already leads there;
`break` or `continue`; or a flag that the sequences around it look at. What follows a conditional branch
goes into its `else`, and what follows a region that only one arm leaves normally goes into that arm, so
most programs need no flags.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from concerto.vm.python_tier.expression import (
    KINDS,
    READ,
    UNKNOWN,
    Expr,
    Fact,
    Facts,
    compound,
    join_facts,
    local,
    name,
    refine,
)
from concerto.vm.python_tier.instructions import negation, write_step
from concerto.vm.python_tier.tree import Arm, Exit, Node, Region, Step
from concerto.vm.python_tier.writer import FunctionWriter

Nodes: TypeAlias = deque[Node]

Outcome: TypeAlias = Literal["go on", "falls", "jumps"]
"""Of writing a node: go on with the rest of the sequence; or the rest is written too (or is never reached),
and the Python block can fall off its end, or cannot."""


@dataclass(slots=True)
class Flag:
    """Control is on its way to a region outside. `loops`: how deep in Python loops it is looked at."""

    name: str
    loops: int
    used: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """`owner` is the region whose END the sequence comes to. `tail`: regions to whose end (a loop: to whose
    start) falling off leads; `breaks`: to which `break` does; `loop`: which `continue` starts again.
    `flags` are looked at by sequences further out."""

    owner: Region | None = None
    tail: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()
    loop: int = -1
    loops: int = 0
    flags: dict[int, Flag] = field(default_factory=dict)

    def leaves_at_once(self, target: int) -> bool:
        """Whether `continue` or `break` is all that a branch needs."""
        return target == self.loop or target in self.breaks


@dataclass(slots=True)
class Landing:
    """The END of a region being written: `place` is the variable for its result (`return` leaves the
    function at once, "" drops it) and `local` its number if it is a local; `height` that of the stack
    without the result. `fact` and `facts` say what is known on all ways there, `reached` that there is one.
    """

    height: int
    place: str = ""
    local: int = -1
    reached: bool = False
    fact: Fact | None = None
    facts: Facts | None = None


class ControlWriter:
    """Writes the body of a function into a `FunctionWriter`."""

    def __init__(self, writer: FunctionWriter, root: Region) -> None:
        self.writer = writer
        self.root = root
        self.landings: dict[int, Landing] = {}
        self.continuations: dict[int, Nodes] = {}
        self.caught: dict[int, str] = {}

    def write_body(self) -> None:
        """All of the function; falling off its end returns nil, as Python does."""
        before = len(self.writer.lines)
        self.write_sequence(deque(self.root.arms[0].nodes), Context())
        if len(self.writer.lines) == before:
            self.writer.line("pass")

    # Sequences

    def write_sequence(self, nodes: Nodes, context: Context) -> bool:
        """Write nodes and come to the END; true if control can fall off the end of the Python block."""
        while nodes:
            node = nodes.popleft()
            self.writer.pc = node.pc
            match node:
                case Step():
                    outcome = self.write_step(node)
                case Exit():
                    outcome = self.write_exit(node, nodes, context)
                case Region():
                    outcome = self.write_region(node, nodes, context)
            if outcome != "go on":
                return outcome == "falls"
        return self.finish(context.owner)

    def write_block(self, nodes: Nodes, context: Context) -> bool:
        """A sequence as an indented Python block."""
        writer = self.writer
        writer.indent += 1
        before = len(writer.lines)
        falls = self.write_sequence(nodes, context)
        if len(writer.lines) == before:
            writer.line("pass")
        writer.indent -= 1
        return falls

    def finish(self, owner: Region | None) -> bool:
        """Fall off the end of an arm of a region."""
        writer = self.writer
        if owner is None or owner.loops:
            writer.settle()
            return True
        landing = self.landings[owner.number]
        if owner.result and not self.deliver(landing):
            return False
        writer.settle()
        landing.reached = True
        landing.facts = join_facts(landing.facts, dict(writer.known))
        return True

    def resume(self, stack: list[Expr], facts: Facts, condition: Expr | None = None) -> None:
        """Go on in another arm: the stack and the facts as they were, and what a condition adds."""
        self.writer.stack = list(stack)
        self.writer.facts = dict(facts)
        if condition is not None:
            refine(self.writer.facts, condition.tests)

    def write_step(self, node: Step) -> Outcome:
        writer = self.writer
        match node.instr[0]:
            case "RETURN":
                self.write_return()
            case "THROW":
                writer.act(writer.mark(f"raise Raised({writer.pop().text})"))
            case "RETHROW":
                writer.act(f"raise {self.caught[node.instr[1]]}")
            case "PANIC":
                writer.act(writer.mark(f"panic({writer.pop().text})"))
            case _:
                write_step(writer, node.instr)
                return "go on"
        writer.facts = None
        return "jumps"

    def write_return(self) -> None:
        writer = self.writer
        expr = writer.pop()
        writer.settle()
        writer.line("return" if expr.text == "None" else f"return {expr.text}")

    # Branches

    def write_exit(self, node: Exit, rest: Nodes, context: Context) -> Outcome:
        """BR; or BR_IF, whose rest goes under the opposite condition unless the branch is a jump of Python."""
        writer = self.writer
        if not node.conditional:
            return "falls" if self.leave(node.target, context) else "jumps"
        condition = writer.pop()
        writer.settle(pure_too=True)
        stack, facts = list(writer.stack), dict(writer.known)
        opposite = negation(condition)
        follows = self.continuations.pop(node.target.number, None)
        if follows is not None:
            return self.write_fork(opposite, rest, condition, follows, context)
        if node.target.number in context.tail and not context.leaves_at_once(node.target.number):
            self.resume(stack, facts, condition)
            self.leave(node.target, context)
            self.resume(stack, facts, opposite)
            self.write_if(opposite, rest, context)
            return "falls"
        writer.line(f"if {condition.text}:")
        self.resume(stack, facts, condition)
        writer.indent += 1
        falls = self.leave(node.target, context)
        writer.indent -= 1
        self.resume(stack, facts, opposite)
        if not falls:
            return "go on"
        writer.line("else:")
        self.write_block(rest, context)
        return "falls"

    def write_fork(self, test: Expr, yes: Nodes, opposite: Expr, no: Nodes, context: Context) -> Outcome:
        """Two ways that never meet again; the second needs no `else` if the first jumps away."""
        writer = self.writer
        stack, facts = list(writer.stack), dict(writer.known)
        writer.line(f"if {test.text}:")
        self.resume(stack, facts, test)
        falls = self.write_block(yes, self.jumping(context))
        self.resume(stack, facts, opposite)
        if not falls:
            return "falls" if self.write_sequence(no, context) else "jumps"
        writer.line("else:")
        self.write_block(no, context)
        return "falls"

    @staticmethod
    def jumping(context: Context) -> Context:
        """The context with `continue` written even where falling off would do: it saves an `else`."""
        return replace(context, tail=context.tail - {context.loop})

    def write_if(self, condition: Expr, nodes: Nodes, context: Context) -> None:
        """An `if` around nodes, unless they come to nothing."""
        writer = self.writer
        start = len(writer.lines)
        writer.line(f"if {condition.text}:")
        self.write_block(nodes, context)
        if condition.level < READ and writer.lines[start + 1 :] == [" " * (writer.indent + 1) + "pass"]:
            del writer.lines[start:]

    def leave(self, target: Region, context: Context) -> bool:
        """BR: deliver the result if there is one, then go; true if falling off is how it goes."""
        writer = self.writer
        if not target.loops:
            landing = self.landings[target.number]
            if target.result and not self.deliver(landing):
                return False
            landing.reached = True
            landing.facts = join_facts(landing.facts, dict(writer.known))
        writer.settle()
        writer.facts = None
        return self.jump(target.number, context)

    def deliver(self, landing: Landing) -> bool:
        """Take the result of a region to its place; false if that left the function."""
        writer = self.writer
        if landing.place == "return":
            self.write_return()
            writer.facts = None
            return False
        expr = writer.pop()
        landing.fact = expr.fact if landing.fact is None else landing.fact.join(expr.fact)
        if not landing.place:
            if expr.level >= READ:
                writer.act(expr.text)
        elif landing.local >= 0:
            if expr.text == landing.place:
                writer.learn(landing.local, expr.fact)
            else:
                writer.store(landing.local, expr)
        elif expr.text != landing.place:
            writer.act(f"{landing.place} = {expr.text}")
        return True

    def jump(self, target: int, context: Context) -> bool:
        """The statement that goes to a region's end, or a loop's start; true if falling off does it."""
        writer = self.writer
        if target in context.tail:
            return True
        if context.leaves_at_once(target):
            writer.line("continue" if target == context.loop else "break")
            return False
        flag = context.flags[target]
        flag.used = True
        writer.line(f"{flag.name} = True")
        if flag.loops < context.loops:
            writer.line("break")
            return False
        return True

    # Regions

    def write_region(self, region: Region, rest: Nodes, context: Context) -> Outcome:
        if region.simple:
            self.write_expression(region)
            return "go on"
        if region.kind == "BLOCK" and not region.branched:
            rest.extendleft(reversed(region.arms[0].nodes))
            return "go on"
        if region.kind == "BLOCK" and _is_fork(region):
            self.continuations[region.number] = deque(rest)
            rest.clear()
            rest.extend(region.arms[0].nodes)
            return "go on"
        subject = self.prepare(region)
        if subject is not None and region.kind != "FOR":
            choices = self.choices(region, subject)
            falling = [arm for _, arm in choices if arm.falls]
            if rest and len(falling) == 1 and not region.branched:
                return self.write_single_way(choices, falling[0], rest, context)
            self.land(region, rest, context)
            return self.watched(region, rest, context, choices)
        self.land(region, rest, context)
        return self.watched(region, rest, context, subject)

    def prepare(self, region: Region) -> Expr | None:
        """Before a region: take its subject, and compute what else cannot wait until after it."""
        writer = self.writer
        subject = writer.pop() if region.kind in ("IF", "SWITCH", "FOR") else None
        stores = 0
        for number in region.stores:
            stores |= 1 << number
        writer.settle(stores, pure_too=True)
        return subject

    def land(self, region: Region, rest: Nodes, context: Context) -> None:
        """Decide where the result of a region goes: to the local that is assigned next, out of the
        function, nowhere if it is dropped, to where the region around wants it, or to a temporary."""
        writer = self.writer
        landing = self.landings[region.number] = Landing(len(writer.stack))
        if not region.result:
            return
        match rest[0] if rest else None:
            case Step(instr=("RETURN",)):
                landing.place = "return"
            case Step(instr=("STORE_LOCAL", number)):
                landing.place, landing.local = f"v{number}", number
                writer.settle(1 << number)
            case Step(instr=("POP",)):
                pass
            case None if context.owner is not None and context.owner.result:
                outer = self.landings[context.owner.number]
                landing.place, landing.local = outer.place, outer.local
            case _:
                landing.place = writer.temporary()

    def watched(
        self,
        region: Region,
        rest: Nodes,
        context: Context,
        subject: Expr | list[tuple[Expr | None, Arm]] | None,
    ) -> Outcome:
        """A region written as statements, with the flags that branches out of it may need."""
        start = len(self.writer.lines)
        flags = {
            target: Flag(f"q{target}", context.loops)
            for target in region.escapes
            if region.loops or (rest and not context.leaves_at_once(target))
        }
        inner = self.inner_context(region, rest, context, flags)
        match region.kind:
            case "LOOP" | "FOR":
                assert not isinstance(subject, list)
                self.write_loop(region, subject, inner)
                falls = True
            case "TRY":
                falls = self.write_try(region, inner)
            case "BLOCK":
                falls = self.write_sequence(deque(region.arms[0].nodes), inner)
            case _:
                assert isinstance(subject, list)
                falls = self.write_arms(subject, inner)
        skips = self.follow_flags(flags, context, start)
        reached = self.after(region, rest)
        if not reached:
            return "falls" if falls or skips else "jumps"
        if not skips:
            return "go on"
        self.writer.line(f"if not {skips[0]}:" if len(skips) == 1 else f"if not ({' or '.join(skips)}):")
        self.write_block(rest, context)
        return "falls"

    def inner_context(self, region: Region, rest: Nodes, context: Context, flags: dict[int, Flag]) -> Context:
        own = frozenset({region.number})
        if region.loops:
            return Context(
                owner=region,
                tail=own,
                breaks=frozenset() if rest else context.tail,
                loop=region.number,
                loops=context.loops + 1,
                flags={**context.flags, **flags},
            )
        if not rest:
            return replace(context, owner=region, tail=context.tail | own)
        return replace(context, owner=region, tail=own, flags={**context.flags, **flags})

    def follow_flags(self, flags: dict[int, Flag], context: Context, start: int) -> list[str]:
        """After a region: where its branches outside have come to, they jump on; the flags returned say
        that the rest of the sequence is left out."""
        writer = self.writer
        skips = []
        for target, flag in flags.items():
            if not flag.used:
                continue
            outer = (
                None if target in context.tail or context.leaves_at_once(target) else context.flags[target]
            )
            if outer is None:
                writer.lines.insert(start, f"{' ' * writer.indent}{flag.name} = False")
            else:
                outer.used = True
            if target in context.tail or (outer is not None and outer.loops == context.loops):
                skips.append(flag.name)
            else:
                writer.line(f"if {flag.name}:")
                writer.line(" continue" if outer is None and target == context.loop else " break")
        return skips

    def after(self, region: Region, rest: Nodes) -> bool:
        """Pick up a region's result; false if its END is never reached."""
        writer = self.writer
        landing = self.landings[region.number]
        if not landing.reached:
            writer.facts = None
            return False
        writer.facts = dict(landing.facts or {})
        del writer.stack[landing.height :]
        if region.result:
            fact = landing.fact or UNKNOWN
            if rest and (not landing.place or landing.local >= 0):
                rest.popleft()
            elif landing.local >= 0:
                writer.push(local(landing.local, fact))
            else:
                writer.push(name(landing.place or "None", fact))
        return True

    # Conditional expressions

    def write_expression(self, region: Region) -> None:
        writer = self.writer
        condition = writer.pop()
        stack, facts = list(writer.stack), dict(writer.known)
        writer.inside_expression += 1
        arms: list[Expr] = []
        for arm, test in zip(region.arms, (condition, negation(condition)), strict=True):
            self.resume(stack, facts, test)
            for node in arm.nodes:
                writer.pc = node.pc
                if isinstance(node, Region):
                    self.write_expression(node)
                elif isinstance(node, Step):
                    write_step(writer, node.instr)
            arms.append(writer.pop())
        writer.inside_expression -= 1
        self.resume(stack, facts)
        writer.push(_conditional(condition, arms[0], arms[1]))

    # IF and SWITCH

    def choices(self, region: Region, subject: Expr) -> list[tuple[Expr | None, Arm]]:
        """The arms with their conditions; the last one, without, is the `else`."""
        writer = self.writer
        if region.kind == "IF":
            return [(subject, region.arms[0]), (None, region.arms[1] if len(region.arms) > 1 else Arm())]
        if not subject.cheap:
            made = writer.temporary()
            writer.line(f"{made} = {subject.text}")
            subject = name(made, subject.fact)
        cases: list[tuple[Expr | None, Arm]] = []
        default = Arm()
        for arm in region.arms:
            if arm.default:
                default = arm
            else:
                cases.append((self.case_test(subject, arm), arm))
        return [*cases, (None, default)]

    def case_test(self, subject: Expr, arm: Arm) -> Expr:
        constants = [self.writer.constant(label).text for label in arm.labels]
        if len(constants) == 1:
            return compound(f"{subject.text} == {constants[0]}", (subject,), KINDS["bool"])
        return compound(f"{subject.text} in ({', '.join(constants)})", (subject,), KINDS["bool"])

    def write_arms(self, choices: list[tuple[Expr | None, Arm]], context: Context) -> bool:
        """`if … elif … else`; an arm's sequence ends with the region's END."""
        writer = self.writer
        stack, facts = list(writer.stack), dict(writer.known)
        falls = False
        word = "if"
        for test, arm in choices:
            if test is not None:
                self.resume(stack, facts, test)
                writer.line(f"{word} {test.text}:")
                word = "elif"
                falls |= self.write_block(deque(arm.nodes), context)
                continue
            self.resume(
                stack, facts, negation(choices[0][0]) if len(choices) == 2 and choices[0][0] else None
            )
            falls |= self.write_otherwise(arm, context, alone=word == "if")
        return falls

    def write_otherwise(self, arm: Arm, context: Context, *, alone: bool) -> bool:
        """The last arm; no `else` if nothing is in it, or if it is the only arm."""
        writer = self.writer
        if alone:
            return self.write_sequence(deque(arm.nodes), context)
        start = len(writer.lines)
        writer.line("else:")
        falls = self.write_block(deque(arm.nodes), context)
        body = writer.lines[start + 1 :]
        pad = " " * (writer.indent + 1)
        if body == [pad + "pass"]:
            del writer.lines[start:]
        elif body[0].startswith(pad + "if ") and all(_continues(line, pad) for line in body[1:]):
            writer.lines[start:] = [line[1:] for line in body]
            writer.lines[start] = f"{' ' * writer.indent}el{writer.lines[start].strip()}"
        return falls

    def write_single_way(
        self, choices: list[tuple[Expr | None, Arm]], falling: Arm, rest: Nodes, context: Context
    ) -> Outcome:
        """Only one arm comes to the END, so what follows the region belongs to it: its value stays
        symbolic, and if the other arms jump away it need not even be indented."""
        writer = self.writer
        rest.extendleft(reversed(falling.nodes))
        if len(choices) == 2:
            test = choices[0][0]
            assert test is not None
            opposite = negation(test)
            if falling is choices[0][1]:
                return self.write_fork(opposite, deque(choices[1][1].nodes), test, rest, context)
            return self.write_fork(test, deque(choices[0][1].nodes), opposite, rest, context)
        stack, facts = list(writer.stack), dict(writer.known)
        word = "if"
        for test, arm in choices:
            self.resume(stack, facts, test)
            if test is None and word == "if":
                return "falls" if self.write_sequence(rest, context) else "jumps"
            writer.line(f"{word} {test.text}:" if test is not None else "else:")
            word = "elif"
            self.write_block(rest if arm is falling else deque(arm.nodes), context)
        return "falls"

    # Loops and TRY

    def write_loop(self, region: Region, subject: Expr | None, context: Context) -> None:
        """`ticks` and `each` let the machine look after the run every now and then."""
        writer = self.writer
        stack, facts = list(writer.stack), self.loop_facts(region)
        self.resume(stack, facts)
        if subject is None:
            writer.line("for _ in ticks:")
        else:
            writer.line(f"for v{region.local} in {writer.mark(f'each({subject.text})')}:")
            landing = self.landings[region.number]
            landing.reached = True
            landing.facts = facts
            if subject.fact.kind == "range":
                writer.known[region.local] = Fact("int", subject.fact.low, subject.fact.high)
        self.write_block(deque(region.arms[0].nodes), context)
        self.resume(stack, facts)

    def loop_facts(self, region: Region) -> Facts:
        """What is known at the start of every round: nothing of locals that jump about, one bound of
        counters."""
        facts = {}
        for number, fact in self.writer.known.items():
            if number in region.jumps_about or (number in region.rises and number in region.sinks):
                continue
            if number in region.rises and fact.kind == "int":
                fact = Fact("int", fact.low)
            elif number in region.sinks and fact.kind == "int":
                fact = Fact("int", high=fact.high)
            facts[number] = fact
        return facts

    def write_try(self, region: Region, context: Context) -> bool:
        writer = self.writer
        guarded, catching = region.arms
        stack = list(writer.stack)
        facts = {number: fact for number, fact in writer.known.items() if number not in region.stores}
        writer.line("try:")
        falls = self.write_block(deque(guarded.nodes), context)
        exception = f"e{region.number}"
        writer.line(f"except Exception as {exception}:")
        self.resume(stack, facts)
        outer = self.caught.get(region.local)
        self.caught[region.local] = exception
        writer.lines.append(f"{' ' * (writer.indent + 1)}v{region.local} = caught({exception})")
        falls |= self.write_block(deque(catching.nodes), context)
        if outer is not None:
            self.caught[region.local] = outer
        return falls


def _is_fork(region: Region) -> bool:
    """A BLOCK that is left by one BR_IF only, while its body ends elsewhere: an `if` whose `else` is what
    follows."""
    arm = region.arms[0]
    if arm.falls or region.result:
        return False
    exits = [node for node in arm.nodes if isinstance(node, Exit) and node.target is region]
    inside = any(isinstance(node, Region) and region.number in node.escapes for node in arm.nodes)
    return len(exits) == 1 and exits[0].conditional and not inside


def _continues(line: str, pad: str) -> bool:
    """Whether a line still belongs to the `if` statement that starts at an indentation."""
    return line.startswith((pad + " ", pad + "elif ", pad + "else:"))


def _conditional(condition: Expr, yes: Expr, no: Expr) -> Expr:
    parts = (condition, yes, no)
    if no.text == "False" and yes.fact.kind == "bool":
        made = compound(f"{condition.wrapped} and {yes.wrapped}", parts, KINDS["bool"])
        made.tests = condition.tests + yes.tests
        return made
    if yes.text == "True" and no.fact.kind == "bool":
        return compound(f"{condition.wrapped} or {no.wrapped}", parts, KINDS["bool"])
    text = f"({yes.wrapped} if {condition.wrapped} else {no.wrapped})"
    return compound(text, parts, yes.fact.join(no.fact), atom=True)

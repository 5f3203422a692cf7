"""Regions as Python statements.

`write_sequence` writes nodes one after the other in a `Context`, which says what a branch to an outer region
can be here: nothing at all, where falling off the end of the Python block already leads there; `break` or
`continue`; or a flag that the sequences around it look at. What follows a conditional branch goes into its
`else`, and what follows a region that only one arm leaves normally goes into that arm, so most programs need
no flags.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from concerto.vm.python_tier.choices import Choices, choices_of, write_arms, write_single_way
from concerto.vm.python_tier.conditionals import write_conditional
from concerto.vm.python_tier.context import Context, Flag, Landing, Nodes, Outcome
from concerto.vm.python_tier.expression import READ, UNKNOWN, Expr, join_facts, local, name
from concerto.vm.python_tier.instructions import negation, write_step
from concerto.vm.python_tier.loops import write_loop, write_try
from concerto.vm.python_tier.tree import Exit, Region, Step
from concerto.vm.python_tier.unpacking import store_parts, taken_apart
from concerto.vm.python_tier.writer import FunctionWriter


class ControlWriter:
    """Writes the body of a function into a `FunctionWriter`."""

    def __init__(self, writer: FunctionWriter, root: Region) -> None:
        self.writer = writer
        self.root = root
        self.landings: dict[int, Landing] = {}
        self.continuations: dict[int, Nodes] = {}

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
                    outcome = self.write_step(node, nodes)
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

    def write_otherwise(self, nodes: Nodes, context: Context) -> bool:
        """The `else` of an `if`: nothing if it is empty, an `elif` if it is one `if` statement."""
        writer = self.writer
        start = len(writer.lines)
        writer.line("else:")
        falls = self.write_block(nodes, context)
        body = writer.lines[start + 1 :]
        pad = " " * (writer.indent + 1)
        if body == [pad + "pass"]:
            del writer.lines[start:]
        elif body[0].startswith(pad + "if ") and all(_continues(line, pad) for line in body[1:]):
            writer.lines[start:] = [line[1:] for line in body]
            writer.lines[start] = f"{' ' * writer.indent}el{writer.lines[start].strip()}"
        return falls

    def finish(self, owner: Region | None) -> bool:
        """Fall off the end of an arm of a region."""
        writer = self.writer
        if owner is None or owner.loops:
            writer.materialize()
            if owner is not None:
                writer.rounds.end_round(owner.number, writer.known)
            return True
        landing = self.landings[owner.number]
        if owner.result and not self.deliver(landing):
            return False
        writer.materialize()
        landing.reached = True
        landing.facts = join_facts(landing.facts, dict(writer.known))
        return True

    def write_step(self, node: Step, rest: Nodes) -> Outcome:
        writer = self.writer
        match node.instr[0]:
            case "RETURN":
                self.write_return()
            case "THROW":
                writer.act(writer.mark(f"raise Raised({writer.pop().text})"))
            case "RETHROW":
                writer.act(f"raise {writer.caught[node.instr[1]]}")
            case "PANIC":
                writer.act(writer.mark(f"panic({writer.pop().text})"))
            case "STORE_LOCAL" if apart := taken_apart(writer, rest, node.instr[1]):
                store_parts(writer, apart, writer.pop())
                for _ in range(apart.length):
                    rest.popleft()
                return "go on"
            case _:
                write_step(writer, node.instr)
                return "go on"
        writer.facts = None
        return "jumps"

    def write_return(self) -> None:
        writer = self.writer
        expr = writer.pop()
        writer.materialize()
        text = writer.opened(writer.returns, expr) if writer.returns else expr.text
        writer.line("return" if text == "None" else f"return {text}")

    # Branches

    def write_exit(self, node: Exit, rest: Nodes, context: Context) -> Outcome:
        """BR; or BR_IF, whose rest goes under the opposite condition unless the branch is Python's own."""
        writer = self.writer
        if not node.conditional:
            return "falls" if self.leave(node.target, context) else "jumps"
        condition = writer.pop()
        writer.materialize(pure_too=True)
        state = writer.snapshot()
        opposite = negation(condition)
        follows = self.continuations.pop(node.target.number, None)
        if follows is not None:
            return self.write_fork(opposite, rest, condition, follows, context)
        if node.target.number in context.tail and not context.leaves_at_once(node.target.number):
            writer.resume(state, condition)
            self.leave(node.target, context)
            writer.resume(state, opposite)
            self.write_if(opposite, rest, context)
            return "falls"
        writer.line(f"if {condition.text}:")
        writer.resume(state, condition)
        writer.indent += 1
        falls = self.leave(node.target, context)
        writer.indent -= 1
        writer.resume(state, opposite)
        if not falls:
            return "go on"
        self.write_otherwise(rest, context)
        return "falls"

    def write_fork(self, test: Expr, yes: Nodes, opposite: Expr, no: Nodes, context: Context) -> Outcome:
        """Two ways that never meet again; the second needs no `else` if the first jumps away."""
        writer = self.writer
        state = writer.snapshot()
        writer.line(f"if {test.text}:")
        writer.resume(state, test)
        falls = self.write_block(yes, self.jumping(context))
        writer.resume(state, opposite)
        if not falls:
            return "falls" if self.write_sequence(no, context) else "jumps"
        self.write_otherwise(no, context)
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
        else:
            writer.rounds.end_round(target.number, writer.known)
        writer.materialize()
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
            write_conditional(self.writer, region)
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
            choices = choices_of(self.writer, region, subject)
            falling = [arm for _, arm in choices if arm.falls]
            if rest and len(falling) == 1 and not region.branched:
                return write_single_way(self, choices, falling[0], rest, context)
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
        writer.materialize(stores, pure_too=True)
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
                writer.materialize(1 << number)
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
        subject: Expr | Choices | None,
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
                write_loop(self, region, subject, inner)
                falls = True
            case "TRY":
                falls = write_try(self, region, inner)
            case "BLOCK":
                falls = self.write_sequence(deque(region.arms[0].nodes), inner)
            case _:
                assert isinstance(subject, list)
                falls = write_arms(self, subject, inner)
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

"""LOOP, FOR and TRY as Python's own."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace

from concerto.vm.dispatch import is_of_classes
from concerto.vm.python_tier.block_writer import BlockWriter
from concerto.vm.python_tier.context import Context
from concerto.vm.python_tier.expression import (
    ACT,
    ARRAY,
    CHARACTER,
    FEW,
    INT,
    LENGTH,
    MANY,
    UNKNOWN,
    Comparison,
    Expr,
    Fact,
    compound,
    literal_int,
    local,
    name,
    refine,
)
from concerto.vm.python_tier.inlining import Traversal, traversal_of_loop
from concerto.vm.python_tier.instructions import write_step
from concerto.vm.python_tier.loops.counting import Counting, find_counting
from concerto.vm.python_tier.tree import Arm, Node, Region, Step
from concerto.vm.python_tier.unboxing import SET
from concerto.vm.python_tier.unpacking import TakenApart, store_parts, taken_apart
from concerto.vm.python_tier.writer import FunctionWriter

_NAMED = re.compile(r"\b(t\w*) :=")


def write_loop(control: BlockWriter, region: Region, subject: Expr | None, context: Context) -> None:
    """`ticks` and `each` let the machine look after the run every now and then."""
    writer = control.writer
    rounds = writer.rounds
    counting = find_counting(writer, region) if subject is None else None
    if counting is not None:
        _write_counting(control, region, counting, context)
        return
    counted = subject is not None and subject.fact.kind == "range"
    most = subject.fact.high - subject.fact.low + 1 if subject is not None and counted else None
    state = list(writer.stack), rounds.open(region, writer.known, most)
    writer.resume(state)
    nodes = region.arms[0].nodes
    through = ""
    if subject is None:
        writer.line("for _ in ticks:")
    else:
        steps = traversal_of_loop(writer, subject, f"v{region.local}", region.stores)
        if subject.walk is not None and (steps is not None or not subject.walk[1]):
            subject = subject.walk[0]
            subject = replace(subject, text=subject.numbers or subject.text)
        subject = writer.only_read(subject.characters or subject)
        apart = None if steps is not None else taken_apart(writer, nodes, region.local)
        target = f"v{region.local}" if apart is None else _target(writer, subject, apart)
        nodes = nodes[0 if apart is None else apart.length :]
        around = region if steps is None else _with_closures(region, steps)
        in_pairs = apart is not None and len(apart.parts) == 2
        through = _gone_through(writer, around, subject, in_pairs=in_pairs)
        head = f"for {target} in {writer.mark(through)}:"
        if steps is None:
            writer.line(head)
        landing = control.landings[region.number]
        landing.reached = True
        landing.facts = state[1]
        if steps is not None:
            steps.begin(writer, head)
            nodes = _write_element(writer, region, steps, nodes)
            writer.indent -= 1
        elif counted or subject.fact.kind == "few ints":
            writer.known[region.local] = Fact("int", subject.fact.low, subject.fact.high)
        elif subject.fact.kind == "str":
            writer.learn(region.local, CHARACTER)
        # While there are rounds, a range is not empty.
        refine(writer.known, tuple([test for test in subject.tests if not _touches(region, test)]))
    control.write_block(deque(nodes), context)
    rounds.close()
    writer.resume(state)
    if subject is not None and not subject.fact.kind and subject.level >= ACT:
        _let_go(writer, through)


def _let_go(writer: FunctionWriter, text: str) -> None:
    """Drop what was named in the text: a stream that nobody reads any more ends with who holds it."""
    for made in dict.fromkeys(_NAMED.findall(text)):
        writer.line(f"{made} = None")


def _with_closures(region: Region, steps: Traversal) -> Region:
    """A region with the closures of the methods on the way in its rounds."""
    has_loops = region.has_loops or any(" for " in body for body in steps.bodies)
    return replace(region, has_calls=True, has_loops=has_loops)


def _write_element(writer: FunctionWriter, region: Region, steps: Traversal, nodes: list[Node]) -> list[Node]:
    """The element in its place, behind the methods on the way; what of a round is left."""
    element = _marked(writer, steps.element)
    apart = taken_apart(writer, nodes, region.local)
    if apart is None:
        writer.store(region.local, element)
        return nodes
    store_parts(writer, apart, element)
    return nodes[apart.length :]


def _marked(writer: FunctionWriter, expr: Expr) -> Expr:
    """What a closure gives, as the work of the loop that asks for it."""
    if expr.cheap:
        return expr
    made = replace(expr, text=writer.mark(expr.text))
    if expr.unchecked is not None:
        text, check, beyond = expr.unchecked
        made.unchecked = writer.mark(text), writer.mark(check), beyond
    if expr.opened is not None:
        made.opened = expr.opened[0], writer.mark(expr.opened[1])
    made.items = tuple([_marked(writer, part) for part in expr.items])
    return made


def _write_counting(control: BlockWriter, region: Region, counting: Counting, context: Context) -> None:
    """A `for` over a range, then the last step."""
    writer, number, sign = control.writer, counting.local, counting.sign
    for step in counting.bound:
        _write_plain(writer, step)
    (end,) = writer.cheap(writer.pop())
    start = local(number, writer.known.get(number, INT))
    inside, after = counting.bounds(start.fact, end.fact if end.fact.kind == "int" else INT)
    writer.pc = counting.compared.pc
    subject = compound(counting.range(start, end), (start, end), Fact("range", inside.low, inside.high))
    subject.numbers = subject.text
    most = inside.high - inside.low + 1
    state = list(writer.stack), writer.rounds.open(region, writer.known, most)
    writer.rounds.note_store(number, None)
    writer.resume(state)
    writer.line(f"for v{number} in {writer.mark(_gone_through(writer, region, subject))}:")
    writer.known[number] = inside
    refine(writer.known, (Comparison(name(start.text, start.fact), sign, end),))
    control.write_block(deque(counting.body), context)
    writer.rounds.close()
    writer.resume(state)
    writer.line(f"if v{number} {sign} {end.text}:")
    writer.indent += 1
    writer.push(end)
    if counting.to_the_end:
        writer.push(literal_int(1))
        _write_plain(writer, counting.moved)
    writer.store(number, writer.pop())
    writer.indent -= 1
    writer.resume(state)
    writer.known[number] = after
    landing = control.landings[region.number]
    landing.reached = True
    landing.facts = dict(writer.known)


def _write_plain(writer: FunctionWriter, step: Step) -> None:
    writer.pc = step.pc
    write_step(writer, step.instr)


def _target(writer: FunctionWriter, subject: Expr, apart: TakenApart) -> str:
    """The locals of the elements of a tuple, which each round assigns."""
    for number in apart.locals:
        writer.rounds.note_store(number, None)
        is_place = number == apart.parts[0] and subject.pairs is not None and subject.pairs[0] == "enumerate"
        writer.learn(number, LENGTH if is_place else UNKNOWN)
    return apart.text


def _gone_through(writer: FunctionWriter, region: Region, subject: Expr, *, in_pairs: bool = False) -> str:
    """What the rounds of a FOR go through. So few rounds with no loop inside need no look after them, which
    costs more than they do; loops around count."""
    if subject.opened is not None and subject.opened[0] == SET:
        subject = replace(subject, text=f"{subject.opened[1]}.values()", cheap=False, fact=ARRAY)
    fact = subject.fact
    each = "searched" if region.left_early else "each"
    most = FEW if region.has_calls else MANY
    if fact.kind in ("few", "few ints"):
        return subject.text
    if subject.pairs is not None:
        together, (items, *others) = subject.pairs
        if region.has_loops:
            first = f"{each}({items})"
        else:
            made = writer.temporary()
            first = f"{made} if len({made} := {items}) < {most} else {each}({made})"
        return f"{together}({', '.join([first, *others])})"
    if region.has_loops:
        return f"{each}({subject.text})"
    if fact.kind == "range":
        few = bool(subject.numbers) and fact.high - fact.low < most
        many = any(test.right.fact.low >= most for test in subject.tests)
        if few or many or not subject.counted:
            return subject.text if few else f"{each}({subject.text})"
        made = writer.temporary()
        return f"(range({made}) if ({made} := {subject.counted}) < {most} else {each}(range({made})))"
    first, again = writer.named(subject)
    if fact.kind == "map":
        return f"({again}.items() if len({first}) < {most} else {each}({again}))"
    if fact.kind in ("array", "str"):
        return f"({again} if len({first}) < {most} else {each}({again}))"
    if in_pairs:
        test = f"type({first}) is dict and len({again}) < {most}"
        return f"({again}.items() if {test} else {each}({again}))"
    return f"({again} if type({first}) is list and len({again}) < {most} else {each}({again}))"


def _touches(region: Region, comparison: Comparison) -> bool:
    """Whether a region assigns what was compared."""
    return comparison.left.local in region.stores or comparison.right.local in region.stores


def _puts_back_itself(writer: FunctionWriter, guarded: Arm, catching: Arm) -> bool:
    """Whether all that is done with a failure is to put back what a method of structs has left of its
    receiver, which is the receiver."""
    methods = [
        node.instr[1]
        for node in guarded.nodes
        if isinstance(node, Step) and node.instr[0] == "CALL_METHOD_MUT"
    ]
    puts_back = any(isinstance(node, Step) and node.instr[0] == "LEFT_SELF" for node in catching.nodes)
    return puts_back and all(is_of_classes(writer.module, method) for method in methods) and bool(methods)


def write_try(control: BlockWriter, region: Region, context: Context) -> bool:
    """What was known of locals that the guarded part assigns is not known where it is caught."""
    writer = control.writer
    guarded, catching = region.arms
    if _puts_back_itself(writer, guarded, catching):
        return control.write_sequence(deque(guarded.nodes), context)
    facts = {number: fact for number, fact in writer.known.items() if number not in region.stores}
    state = list(writer.stack), facts
    writer.line("try:")
    writer.guarded += 1
    falls = control.write_block(deque(guarded.nodes), context)
    writer.guarded -= 1
    writer.rounds.note_store(region.local, None)
    exception = f"e{region.number}"
    writer.line(f"except Exception as {exception}:")
    writer.resume(state)
    writer.caught[region.local] = exception
    writer.lines.append(f"{' ' * (writer.indent + 1)}v{region.local} = caught({exception})")
    return control.write_block(deque(catching.nodes), context) or falls

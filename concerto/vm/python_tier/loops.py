"""LOOP, FOR and TRY as Python's own."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from concerto.vm.python_tier.context import Context
from concerto.vm.python_tier.expression import Expr, Fact, Facts
from concerto.vm.python_tier.tree import Region

if TYPE_CHECKING:
    from concerto.vm.python_tier.control import ControlWriter


def write_loop(control: ControlWriter, region: Region, subject: Expr | None, context: Context) -> None:
    """`ticks` and `each` let the machine look after the run every now and then."""
    writer = control.writer
    state = list(writer.stack), _loop_facts(writer.known, region)
    writer.resume(state)
    if subject is None:
        writer.line("for _ in ticks:")
    else:
        writer.line(f"for v{region.local} in {writer.mark(f'each({subject.text})')}:")
        landing = control.landings[region.number]
        landing.reached = True
        landing.facts = state[1]
        if subject.fact.kind == "range":
            writer.known[region.local] = Fact("int", subject.fact.low, subject.fact.high)
    control.write_block(deque(region.arms[0].nodes), context)
    writer.resume(state)


def _loop_facts(before: Facts, region: Region) -> Facts:
    """What is known at the start of every round: nothing of locals that jump about, one bound of counters."""
    facts = {}
    for number, fact in before.items():
        if number in region.jumps_about or (number in region.rises and number in region.sinks):
            continue
        if number in region.rises and fact.kind == "int":
            fact = Fact("int", fact.low)
        elif number in region.sinks and fact.kind == "int":
            fact = Fact("int", high=fact.high)
        facts[number] = fact
    return facts


def write_try(control: ControlWriter, region: Region, context: Context) -> bool:
    """What was known of locals that the guarded part assigns is not known where it is caught."""
    writer = control.writer
    guarded, catching = region.arms
    facts = {number: fact for number, fact in writer.known.items() if number not in region.stores}
    state = list(writer.stack), facts
    writer.line("try:")
    falls = control.write_block(deque(guarded.nodes), context)
    exception = f"e{region.number}"
    writer.line(f"except Exception as {exception}:")
    writer.resume(state)
    outer = control.caught.get(region.local)
    control.caught[region.local] = exception
    writer.lines.append(f"{' ' * (writer.indent + 1)}v{region.local} = caught({exception})")
    falls |= control.write_block(deque(catching.nodes), context)
    if outer is not None:
        control.caught[region.local] = outer
    return falls

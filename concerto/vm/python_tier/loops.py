"""LOOP, FOR and TRY as Python's own."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from concerto.vm.python_tier.context import Context
from concerto.vm.python_tier.expression import INT, Expr, Fact, Facts
from concerto.vm.python_tier.tree import Region

if TYPE_CHECKING:
    from concerto.vm.python_tier.control import ControlWriter


_MOST_ROUNDS = 2**50
"""Nobody waits for so many rounds, which would take years: a counter that starts far from the bounds of Int
and moves by small steps stays within them."""


def write_loop(control: ControlWriter, region: Region, subject: Expr | None, context: Context) -> None:
    """`ticks` and `each` let the machine look after the run every now and then."""
    writer = control.writer
    outer = control.counters
    state = list(writer.stack), _loop_facts(writer.known, region, outer)
    moved = region.rises.keys() | region.sinks.keys()
    control.counters = {number: fact for number, fact in state[1].items() if number in moved} | outer
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
    control.counters = outer
    writer.resume(state)


def _loop_facts(before: Facts, region: Region, counters: Facts) -> Facts:
    """What is known at the start of every round: nothing of locals that jump about, bounds of counters. What
    holds for a counter of an outer loop holds in all rounds of its inner loops."""
    facts = {}
    for number, fact in before.items():
        if number in region.jumps_about:
            continue
        if fact.kind == "int":
            around = counters.get(number)
            low, high = fact.low, fact.high
            if number in region.rises:
                high = around.high if around else min(high + region.rises[number] * _MOST_ROUNDS, INT.high)
            if number in region.sinks:
                low = around.low if around else max(low - region.sinks[number] * _MOST_ROUNDS, INT.low)
            fact = Fact("int", low, high)
        facts[number] = fact
    return facts


def write_try(control: ControlWriter, region: Region, context: Context) -> bool:
    """What was known of locals that the guarded part assigns is not known where it is caught."""
    writer = control.writer
    guarded, catching = region.arms
    facts = {number: fact for number, fact in writer.known.items() if number not in region.stores}
    state = list(writer.stack), facts
    writer.line("try:")
    writer.guarded += 1
    falls = control.write_block(deque(guarded.nodes), context)
    writer.guarded -= 1
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

"""Call graph: functions that call each other, directly or by way of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concerto.semantics.analyses.ownership.events import BodyEvents
from concerto.semantics.model.graph import strongly_connected
from concerto.semantics.model.symbols import FunctionSymbol


def call_groups(bodies: Sequence[BodyEvents]) -> Iterator[list[BodyEvents]]:
    """The bodies of named functions, each group after those that it calls; in a group as they were given."""
    numbers = {body.function: number for number, body in enumerate(bodies) if body.function is not None}
    calls = {number: _callees(bodies[number], numbers) for number in numbers.values()}
    for group in strongly_connected(calls):
        yield [bodies[each] for each in sorted(group)]


def _callees(body: BodyEvents, numbers: dict[FunctionSymbol, int]) -> list[int]:
    return [numbers[callee] for callee in body.callees if callee in numbers]

"""Functions that call each other, directly or by way of others (Tarjan's algorithm, without recursion)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from concerto.semantics.analyses.ownership.events import BodyEvents
from concerto.semantics.model.symbols import FunctionSymbol


def call_groups(bodies: Sequence[BodyEvents]) -> Iterator[list[BodyEvents]]:
    """The bodies of named functions, each group after those that it calls; in a group as they were given."""
    numbers = {body.function: number for number, body in enumerate(bodies) if body.function is not None}
    calls = {number: _callees(bodies[number], numbers) for number in numbers.values()}
    visited: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: list[int] = []
    for start in calls:
        work = [(start, iter(calls[start]))] if start not in visited else []
        while work:
            number, callees = work[-1]
            if number not in visited:
                visited[number] = lowest[number] = len(visited)
                open_.append(number)
            callee = next((each for each in callees if lowest.get(each) != _CLOSED), None)
            if callee is not None and callee not in visited:
                work.append((callee, iter(calls[callee])))
            elif callee is not None:
                lowest[number] = min(lowest[number], visited[callee])
            else:
                work.pop()
                if work:
                    caller = work[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[number])
                if lowest[number] == visited[number]:
                    group = [open_.pop()]
                    while group[-1] != number:
                        group.append(open_.pop())
                    lowest.update(dict.fromkeys(group, _CLOSED))
                    yield [bodies[each] for each in sorted(group)]


_CLOSED = -1


def _callees(body: BodyEvents, numbers: dict[FunctionSymbol, int]) -> list[int]:
    return [numbers[callee] for callee in body.callees if callee in numbers]

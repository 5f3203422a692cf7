"""Directed graphs: strongly connected components (Tarjan's algorithm, without recursion), shortest cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node")

_CLOSED = -1
# A cycle that is nearly the shortest says as much, and a group may be large.
_MOST_STARTS = 20


def strongly_connected(edges: Mapping[Node, Iterable[Node]]) -> Iterator[list[Node]]:
    """The groups of nodes that lead to each other, each after those that it leads to; in a group as
    they were met."""
    visited: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    open_: list[Node] = []
    for start in edges:
        work = [(start, iter(edges[start]))] if start not in visited else []
        while work:
            node, targets = work[-1]
            if node not in visited:
                visited[node] = lowest[node] = len(visited)
                open_.append(node)
            target = next((each for each in targets if lowest.get(each) != _CLOSED), None)
            if target is not None and target not in visited:
                work.append((target, iter(edges.get(target, ()))))
            elif target is not None:
                lowest[node] = min(lowest[node], visited[target])
            else:
                work.pop()
                if work:
                    before = work[-1][0]
                    lowest[before] = min(lowest[before], lowest[node])
                if lowest[node] == visited[node]:
                    group = [open_.pop()]
                    while group[-1] != node:
                        group.append(open_.pop())
                    group.reverse()
                    lowest.update(dict.fromkeys(group, _CLOSED))
                    yield group


def shortest_cycle(edges: Mapping[Node, Iterable[Node]], group: Sequence[Node]) -> list[Node]:
    """The shortest way through one of the first nodes of a strongly connected group and back to it."""
    cycles = [_cycle_through(edges, start, frozenset(group)) for start in group[:_MOST_STARTS]]
    return min(cycles, key=len)


def _cycle_through(edges: Mapping[Node, Iterable[Node]], start: Node, group: frozenset[Node]) -> list[Node]:
    came_from: dict[Node, Node] = {}
    level = [start]
    while start not in came_from:
        following: list[Node] = []
        for node in level:
            for target in edges.get(node, ()):
                if target in group and target not in came_from:
                    came_from[target] = node
                    following.append(target)
        level = following
    cycle = [start]
    while came_from[cycle[-1]] is not start:
        cycle.append(came_from[cycle[-1]])
    return [start, *reversed(cycle[1:])]

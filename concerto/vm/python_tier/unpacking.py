"""Destructuring: tuples that are only taken apart are so by Python's own assignment to several locals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from concerto.vm.python_tier.tree import Node, Step
from concerto.vm.python_tier.writer import FunctionWriter

STEPS = 3
"""`LOAD_LOCAL`, `GET_ITEM`, `STORE_LOCAL`."""


def taken_apart(writer: FunctionWriter, nodes: Iterable[Node], number: int, width: int = 0) -> dict[int, int]:
    """The locals that get the elements of the tuple in a local, by place, if code begins with that and
    nothing else reads the tuple; `width` is how many elements there are, if that is known."""
    found = dict(_elements(nodes, number))
    size = width or len(found)
    given = set(found.values())
    if not found or size < 2 or max(found) >= size or (not width and len(found) < size):
        return {}
    if len(given) < len(found) or number in given or not given.isdisjoint(writer.open_locals):
        return {}
    return found if writer.loads[number] == len(found) else {}


def _elements(nodes: Iterable[Node], number: int) -> Iterator[tuple[int, int]]:
    left = iter(nodes)
    before = -1
    while True:
        match list(islice(left, STEPS)):
            case [
                Step(instr=("LOAD_LOCAL", local)),
                Step(instr=("GET_ITEM", place)),
                Step(instr=("STORE_LOCAL", target)),
            ] if local == number and place > before:
                yield place, target
                before = place
            case _:
                return

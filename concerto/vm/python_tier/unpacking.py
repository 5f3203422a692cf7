"""Destructuring: tuples whose width is known are taken apart by Python's own assignment to several locals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from concerto.vm.python_tier.expression import Fact
from concerto.vm.python_tier.tree import Node, Step
from concerto.vm.python_tier.writer import FunctionWriter

STEPS = 3
"""`LOAD_LOCAL`, `GET_ITEM`, `STORE_LOCAL` for each element."""


def width_of(fact: Fact) -> int:
    """How many elements a value has; 0 if that is not known, or it is no tuple."""
    return fact.low if fact.kind == "tuple" and fact.low == fact.high else 0


def taken_apart(writer: FunctionWriter, nodes: Sequence[Node], number: int, width: int) -> dict[int, int]:
    """The locals that get the elements of a tuple in a local, by place, if code begins with that and nothing
    else reads the tuple, which has so many elements."""
    first = nodes[0] if width and nodes else None
    if not isinstance(first, Step) or first.instr != ("LOAD_LOCAL", number):
        return {}
    found = dict(_elements(nodes, number))
    given = set(found.values())
    if len(given) < len(found) or number in given or not given.isdisjoint(writer.open_locals):
        return {}
    fits = found and max(found) < width and writer.loads[number] == len(found)
    return found if fits else {}


def _elements(nodes: Sequence[Node], number: int) -> Iterator[tuple[int, int]]:
    before = -1
    left = iter(nodes)
    while True:
        match tuple(islice(left, STEPS)):
            case (
                Step(instr=("LOAD_LOCAL", local)),
                Step(instr=("GET_ITEM", place)),
                Step(instr=("STORE_LOCAL", target)),
            ) if local == number and place > before:
                yield place, target
                before = place
            case _:
                return

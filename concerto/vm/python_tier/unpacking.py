"""Destructuring: tuples are taken apart by Python's own assignment to several locals."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from concerto.vm.python_tier.instructions import write_step
from concerto.vm.python_tier.tree import Node, Step
from concerto.vm.python_tier.writer import FunctionWriter

_FIRST, _UNWRAP = ("GET_ITEM", 0), ("UNWRAP",)

STEPS = 3
"""`LOAD_LOCAL`, `GET_ITEM`, `STORE_LOCAL` for each element; the content of an Option is one more."""


def taken_apart(writer: FunctionWriter, nodes: Iterable[Node], number: int, width: int = 0) -> dict[int, int]:
    """The locals that get the elements of the tuple in a local, by place, if code begins with that and
    nothing else reads the tuple; `width` is how many elements there are, if that is known."""
    if not width and writer.loads[number] < 2:
        return {}
    found = _all_elements(writer, nodes, number, width, inside=False)
    return found if writer.loads[number] == len(found) else {}


def write_parts(writer: FunctionWriter, number: int, rest: deque[Node]) -> bool:
    """Take apart the tuple in a local, or in the Option or Result in it, if that is what follows: its first
    part is about to be loaded."""
    following = rest[0] if rest else None
    if not isinstance(following, Step) or following.instr not in (_FIRST, _UNWRAP):
        return False
    inside = following.instr == _UNWRAP
    start = Step(writer.pc, ("LOAD_LOCAL", number))
    found = _all_elements(writer, chain([start], rest), number, 0, inside=inside)
    if not found:
        return False
    writer.load(number)
    if inside:
        write_step(writer, ("UNWRAP",))
    writer.store_parts(found.values(), writer.pop())
    for _ in range((STEPS + inside) * len(found) - 1):
        rest.popleft()
    return True


def _all_elements(
    writer: FunctionWriter, nodes: Iterable[Node], number: int, width: int, *, inside: bool
) -> dict[int, int]:
    found = dict(_elements(nodes, number, inside))
    size = width or len(found)
    given = set(found.values())
    if not found or size < 2 or max(found) >= size or (not width and len(found) < size):
        return {}
    if len(given) < len(found) or number in given or not given.isdisjoint(writer.open_locals):
        return {}
    return found


def _elements(nodes: Iterable[Node], number: int, inside: bool) -> Iterator[tuple[int, int]]:
    left = iter(nodes)
    loaded = [("LOAD_LOCAL", number), _UNWRAP] if inside else [("LOAD_LOCAL", number)]
    before = -1
    while all(isinstance(node := next(left, None), Step) and node.instr == instr for instr in loaded):
        match next(left, None), next(left, None):
            case Step(instr=("GET_ITEM", place)), Step(instr=("STORE_LOCAL", target)) if place > before:
                yield place, target
                before = place
            case _:
                return

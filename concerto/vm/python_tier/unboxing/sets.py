"""Unboxing of sets: a local, parameter or result that holds the items of a Set, and no Set is made.

What is known to be a Set is kept so if all that is done with it looks at its items, or hands it on to what is
kept so too. Whoever needs the Set itself gets one around the same items, so that it makes no difference which
of them is changed. Parameters and results are those of functions that are called by name only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from concerto.ir.module import Instr, ModuleIR
from concerto.ir.stack import pops, pushes
from concerto.vm.copying import Copies
from concerto.vm.python_tier.tree import Arm, Exit, Region, Step

Place: TypeAlias = tuple[int, int]
"""A function and a local of it, `RETURNED` for what it returns."""

RETURNED = -1

Origins: TypeAlias = frozenset[Place | None]
"""Where a value comes from, None for what is made on the spot; empty if that is not known."""

_UNKNOWN: Origins = frozenset()
_MADE: Origins = frozenset({None})

_GIVES_SET = frozenset(
    {"Set::new", "Set::from", "Array::to_set"}
    | {f"Set::{name}{plain}" for name in ("union", "intersection", "difference") for plain in ("", "_plain")}
    | {"Set::union_owned", "Set::union_plain_owned"}
)

LOOKS_INSIDE = {
    **{f"Set::{name}": 1 for name in ("contains_plain", "insert_plain", "remove_plain")},
    **{f"Set::{name}": 1 for name in ("len", "is_empty", "to_array", "clear")},
    **{f"Set::{name}_plain": 2 for name in ("union", "intersection", "difference", "is_subset")},
    "Set::union_plain_owned": 2,
}
"""Natives that are written so that they need the items only, of so many sets."""


@dataclass(slots=True)
class _Flows:
    """From where to where sets go; `known` are sets for certain, `shown` those that others need to see."""

    module: ModuleIR
    copies: Copies
    moves: list[tuple[Origins, Place]] = field(default_factory=list)
    known: set[Place] = field(default_factory=set)
    shown: set[Place] = field(default_factory=set)


def find_open_sets(
    module: ModuleIR, trees: Mapping[int, Region], copies: Copies, private: Collection[int]
) -> set[Place]:
    """All that is kept as items, of functions with these trees. Assumes the best of all places and takes back
    what others contradict."""
    flows = _Flows(module, copies)
    for index, tree in trees.items():
        _Walk(flows, index).arm(tree, tree.arms[0], [])
    found = {place for place in flows.known - flows.shown if _may_be_open(module, place, private)}
    before = -1
    while len(found) != before:
        before = len(found)
        for origins, goal in flows.moves:
            if goal not in found:
                found -= {place for place in origins if place is not None and place[1] != RETURNED}
            elif not _is_parameter(module, goal) and not _all_open(origins, found):
                found.discard(goal)
    return found


def _all_open(origins: Origins, found: set[Place]) -> bool:
    return bool(origins) and all(place is None or place in found for place in origins)


def _is_parameter(module: ModuleIR, place: Place) -> bool:
    """What may be passed to such a place from outside is a set too."""
    return 0 <= place[1] < len(module.functions[place[0]].parameters)


def _may_be_open(module: ModuleIR, place: Place, private: Collection[int]) -> bool:
    index, local = place
    function = module.functions[index]
    return index in private or local >= function.captures + len(function.parameters)


class _Walk:
    """One function, with where the values on its stack come from."""

    def __init__(self, flows: _Flows, index: int) -> None:
        self.flows = flows
        self.index = index
        self.results: dict[int, list[Origins]] = {}

    def arm(self, region: Region, arm: Arm, stack: list[Origins]) -> None:
        for node in arm.nodes:
            match node:
                case Step(instr=instr):
                    count = pops(instr)
                    taken = [stack.pop() for _ in range(count)][::-1]
                    stack += self.step(instr, taken)
                case Exit(target=target, conditional=conditional):
                    if conditional:
                        stack.pop()
                    self.deliver(target, stack)
                case Region():
                    self.region(node, stack)
        if arm.falls:
            self.deliver(region, stack)

    def deliver(self, region: Region, stack: Sequence[Origins]) -> None:
        """What is on top at the end of a region, or where it is left, is its result."""
        if region.result:
            self.results.setdefault(region.number, []).append(stack[-1])

    def region(self, region: Region, stack: list[Origins]) -> None:
        if region.kind in ("IF", "SWITCH", "FOR"):
            stack.pop()
        if region.kind in ("FOR", "TRY"):
            self.move(_UNKNOWN, region.local)
        for arm in region.arms:
            self.arm(region, arm, list(stack))
        if region.result:
            results = self.results.get(region.number, [])
            if not all(results):
                self.show(results)
            stack.append(frozenset().union(*results) if all(results) else _UNKNOWN)

    def step(self, instr: Instr, taken: list[Origins]) -> list[Origins]:
        match instr:
            case ("LOAD_LOCAL", local):
                return [frozenset({(self.index, local)})]
            case ("STORE_LOCAL", local):
                self.move(taken[0], local)
            case ("RETURN",):
                self.move(taken[0], RETURNED)
            case ("CALL", called, _) if not self.flows.module.functions[called].captures:
                for number, origins in enumerate(taken):
                    self.flows.moves.append((origins, (called, number)))
                return [frozenset({(called, RETURNED)})]
            case ("COPY_OF", index) if self.flows.copies.is_of_items(index):
                self.note_set(taken[0])
                return [_MADE]
            case ("CALL_NATIVE", native, _):
                sets = LOOKS_INSIDE.get(native, 0)
                for origins in taken[:sets]:
                    self.note_set(origins)
                self.show(taken[sets:])
                return [_MADE if native in _GIVES_SET else _UNKNOWN]
            case ("POP",):
                pass
            case _:
                self.show(taken)
        return [_UNKNOWN] * pushes(instr)

    def move(self, origins: Origins, local: int) -> None:
        self.flows.moves.append((origins, (self.index, local)))
        if None in origins:
            self.flows.known.add((self.index, local))

    def note_set(self, origins: Origins) -> None:
        self.flows.known |= {place for place in origins if place is not None}

    def show(self, values: Sequence[Origins]) -> None:
        for origins in values:
            self.flows.shown |= {place for place in origins if place is not None and place[1] != RETURNED}

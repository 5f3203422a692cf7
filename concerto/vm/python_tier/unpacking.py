"""Destructuring: a tuple that a pattern takes apart goes to several locals by Python's own assignment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from concerto.ir.module import Function
from concerto.vm.python_tier.expression import Expr
from concerto.vm.python_tier.tree import Node, Step
from concerto.vm.python_tier.writer import FunctionWriter

Part: TypeAlias = "int | list[Part]"
"""The local of an element, or the parts of an element that is a tuple too."""


class TakenApart(NamedTuple):
    """The parts of a tuple, the locals that they are stored in, and how many nodes that was. What no local
    gets goes where the tuple would be."""

    parts: list[Part]
    locals: list[int]
    length: int

    @property
    def text(self) -> str:
        """What Python assigns to."""
        return _targets(self.parts)[1:-1]


def taken_apart(writer: FunctionWriter, nodes: Sequence[Node], number: int) -> TakenApart | None:
    """How a tuple in a local is taken apart, if code begins with that and nothing else reads the tuple."""
    first = nodes[0] if nodes else None
    if not isinstance(first, Step) or first.instr != ("LOAD_LOCAL", number):
        return None
    parts: list[Part] = []
    found: list[int] = []
    length = 0
    for path, target in _elements(nodes, number):
        if target in found or not _put(parts, path, target, number):
            break
        found.append(target)
        length += len(path) + 2
    fits = found and writer.loads[number] == len(found) and number not in found
    if not fits or not writer.open_locals.keys().isdisjoint(found):
        return None
    return TakenApart(parts, found, length)


def parts_taken(function: Function, nodes: Sequence[Node]) -> int:
    """How many parts the only argument of a function has, if it begins with taking all of them that it
    reads."""
    number = function.captures
    match nodes[:2]:
        case [Step(instr=("LOAD_LOCAL", given)), Step(instr=("STORE_LOCAL", local))] if given == number:
            if function.code.count(("LOAD_LOCAL", given)) == 1:
                number, nodes = local, nodes[2:]
    found = list(_elements(nodes, number)) if len(function.parameters) == 1 else []
    reads = function.code.count(("LOAD_LOCAL", number))
    if not found or reads != len(found) or any(len(path) != 1 for path, _ in found):
        return 0
    return found[0][0][0][1]


def store_parts(writer: FunctionWriter, apart: TakenApart, expr: Expr) -> None:
    """Assign the elements of a tuple, one after the other where it is made here."""
    stores = sum([1 << number for number in apart.locals])
    in_order = apart.parts == apart.locals and len(expr.items) == len(apart.locals)
    if in_order and not any(part.reads & stores for part in expr.items):
        for number, part in zip(apart.locals, expr.items, strict=True):
            writer.store(number, part)
        return
    writer.materialize(stores)
    writer.line(f"{apart.text} = {expr.text}")
    for number in apart.locals:
        writer.rounds.note_store(number, None)
        writer.known.pop(number, None)


def _put(parts: list[Part], path: Sequence[tuple[int, int]], target: int, number: int) -> bool:
    """Note where the element at the end of a path of places goes, each in a tuple of so many elements; false
    if another path says something else of these."""
    (place, width), *rest = path
    if not parts:
        parts += [number] * width
    if len(parts) != width or place >= width:
        return False
    part = parts[place]
    if not rest and part == number:
        parts[place] = target
        return True
    if part == number:
        part = parts[place] = []
    return bool(rest) and isinstance(part, list) and _put(part, rest, target, number)


def _elements(nodes: Sequence[Node], number: int) -> Iterator[tuple[list[tuple[int, int]], int]]:
    """Each element that is loaded, taken and stored: the way to it, and the local."""
    path: list[tuple[int, int]] = []
    loaded = False
    for node in nodes:
        match node:
            case Step(instr=("LOAD_LOCAL", local)) if not loaded and local == number:
                loaded = True
            case Step(instr=("GET_ITEM_OF", place, width)) if loaded:
                path.append((place, width))
            case Step(instr=("STORE_LOCAL", target)) if path:
                yield path, target
                path, loaded = [], False
            case _:
                return


def _targets(part: Part) -> str:
    if isinstance(part, int):
        return f"v{part}"
    texts = [_targets(each) for each in part]
    return f"({', '.join(texts)})" if len(texts) > 1 else f"({texts[0]},)"

"""Counting loops: a `while` that counts an Int up or down by one, to a bound that stays what it is, is
Python's `for` over a range.

The bound is computed once. It may be what an array holds or how long it is, if the loop only looks at the
array. Nothing in the loop but its last step assigns what is counted, and nothing leaves the loop before: a
range costs more than the few rounds that it may come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from concerto.ir.stack import pops, pushes
from concerto.vm.python_tier.expression import INT, Expr, Fact
from concerto.vm.python_tier.tree import Exit, Node, Region, Step
from concerto.vm.python_tier.writer import FunctionWriter

_SIGNS = {
    ("LT_INT", "ADD_INT"): "<",
    ("LE_INT", "ADD_INT"): "<=",
    ("GT_INT", "SUB_INT"): ">",
    ("GE_INT", "SUB_INT"): ">=",
}

_LENGTHS = frozenset({"Array::len", "Map::len", "Set::len"})

_READING = _LENGTHS | {"INDEX_ARRAY", "FOR"}

_REPLACING = frozenset({"SET_INDEX_ARRAY", "Array::swap"})
"""These leave the length as it is."""

_STEP = 4
"""`LOAD_LOCAL`, `LOAD_CONST`, `ADD_INT` or `SUB_INT`, `STORE_LOCAL`."""

_COMPUTED = -1
"""In place of a local."""


@dataclass(slots=True)
class Counting:
    """A loop that counts `local` while it is `sign` what `bound` computes, which `compared` says; the rest of
    a round is `body`, then `moved` counts."""

    local: int
    sign: str
    bound: list[Step]
    compared: Step
    body: list[Node]
    moved: Step

    @property
    def to_the_end(self) -> bool:
        """Whether the bound itself is counted."""
        return self.sign in ("<=", ">=")

    def range(self, start: Expr, end: Expr) -> str:
        """Python's range of what is counted."""
        if self.sign in ("<", "<="):
            return f"range({start.text}, {f'{end.wrapped} + 1' if self.to_the_end else end.text})"
        return f"range({start.text}, {f'{end.wrapped} - 1' if self.to_the_end else end.text}, -1)"

    def bounds(self, start: Fact, end: Fact) -> tuple[Fact, Fact]:
        """The bounds of what is counted, in the loop and after it."""
        if self.sign in ("<", "<="):
            low, high = end.low + self.to_the_end, end.high + self.to_the_end
            inside = Fact("int", start.low, max(start.low, high - 1))
            return inside, Fact("int", max(start.low, low), min(max(start.high, high), INT.high))
        low, high = end.low - self.to_the_end, end.high - self.to_the_end
        inside = Fact("int", min(start.high, low + 1), start.high)
        return inside, Fact("int", max(min(start.low, low), INT.low), min(start.high, high))


def find_counting(writer: FunctionWriter, region: Region) -> Counting | None:
    """What a LOOP counts; None if it does not just count."""
    nodes = region.arms[0].nodes
    place = next((place for place, node in enumerate(nodes) if not isinstance(node, Step)), 0)
    bound = [node for node in nodes[1 : max(place - 2, 0)] if isinstance(node, Step)]
    body = nodes[place + 1 : -_STEP]
    match [*nodes[:1], *nodes[max(place - 2, 0) : place + 1], *nodes[-_STEP:]]:
        case [
            Step(instr=("LOAD_LOCAL", number)),
            Step() as compared,
            Step(instr=("NOT",)),
            Exit(conditional=True),
            Step(instr=("LOAD_LOCAL", again)),
            Step(instr=("LOAD_CONST", one)),
            Step() as moved,
            Step(instr=("STORE_LOCAL", target)),
        ] if number == again == target and writer.module.constants[one] == 1:
            sign = _SIGNS.get((compared.instr[0], moved.instr[0]))
        case _:
            return None
    if sign is None or region.branched or number in writer.open_locals:
        return None
    if any(_interferes(node, number) for node in body) or not _stays(bound, region):
        return None
    return Counting(number, sign, bound, compared, body, moved)


def _interferes(node: Node, number: int) -> bool:
    """Whether a part of a round assigns what is counted, or may leave the loop."""
    match node:
        case Step(instr=instr):
            return instr[0] == "RETURN" or instr == ("STORE_LOCAL", number)
        case Region():
            return number in node.stores or node.left_early
        case Exit():
            return True


def _stays(bound: list[Step], region: Region) -> bool:
    """Whether code gives the same in all rounds of a loop."""
    stack: list[int] = []
    measured: set[int] = set()
    read: set[int] = set()
    for step in bound:
        if pops(step.instr) > len(stack):
            # It takes what is counted.
            return False
        match step.instr:
            case ("LOAD_LOCAL", number) if number not in region.stores:
                stack.append(int(number))
            case ("LOAD_CONST", _):
                stack.append(_COMPUTED)
            case ("ADD_INT" | "SUB_INT" | "MUL_INT",):
                stack[-2:] = [_COMPUTED]
            case ("CALL_NATIVE", "String::len", 1):
                stack[-1:] = [_COMPUTED]
            case ("CALL_NATIVE", native, 1) if native in _LENGTHS:
                measured.add(stack[-1])
                stack[-1:] = [_COMPUTED]
            case ("INDEX_ARRAY",):
                read.add(stack[-2])
                stack[-2:] = [_COMPUTED]
            case _:
                return False
    if len(stack) != 1 or _COMPUTED in measured | read:
        return False
    nodes = region.arms[0].nodes
    return _leave(nodes, read, _READING) and _leave(nodes, measured, _READING | _REPLACING)


def _leave(nodes: Sequence[Node], held: set[int], harmless: frozenset[str]) -> bool:
    """Whether code does nothing but what is harmless with what locals hold."""
    for place, node in enumerate(nodes):
        match node:
            case Region() if not all(_leave(arm.nodes, held, harmless) for arm in node.arms):
                return False
            case Step(instr=("LOAD_LOCAL", number)) if number in held:
                if _use(nodes[place + 1 :]) not in harmless:
                    return False
            case _:
                pass
    return True


def _use(nodes: Sequence[Node]) -> str:
    """What takes the value on the stack as its first operand; "" if that is not seen."""
    height = 1
    for node in nodes:
        match node:
            case Step(instr=instr):
                taken = pops(instr)
                if taken >= height:
                    name = str(instr[1] if instr[0] == "CALL_NATIVE" else instr[0])
                    return name if taken == height else ""
                height += pushes(instr) - taken
            case Region(kind="FOR") if height == 1:
                return "FOR"
            case Region(simple=True, result=result) if height > 1:
                height += result - 1
            case _:
                return ""
    return ""

"""Region tree: a function's instructions by regions, dead code left out.

The writer needs to know about a region before it writes it: which locals it assigns, to which outer regions
it branches, which of its arms reach its end, and whether it is one expression. All of that is found here,
in one pass from the inside out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from concerto.ir.module import Instr
from concerto.ir.stack import ENDS_PATH, OPENS_REGION, pushes
from concerto.vm.copying import Copies

_EXPRESSION_SIZE = 40
"""A conditional expression of more instructions than this is written as statements."""


@dataclass(slots=True)
class Step:
    """A plain instruction."""

    pc: int
    instr: Instr


@dataclass(slots=True)
class Exit:
    """BR or BR_IF."""

    pc: int
    target: Region
    conditional: bool


@dataclass(slots=True)
class Arm:
    """A part of a region: the body of a BLOCK or loop, a case, the guarded or the catching part. `labels`
    are the constants of a SWITCH's cases; `default` marks ELSE and DEFAULT."""

    nodes: list[Node] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    default: bool = False
    falls: bool = True


@dataclass(slots=True)
class Region:
    """`stores` are the locals assigned inside, `escapes` the numbers of outer regions branched to. `size`,
    `depth` and `python_blocks` measure what is inside, and `has_loops` and `has_calls` say what is.
    `branched` says that a BR leads to it, `simple` that it is an expression, `returns` that something inside
    leaves the function."""

    pc: int
    number: int
    kind: str
    local: int
    result: int
    arms: list[Arm] = field(default_factory=list)
    stores: set[int] = field(default_factory=set)
    escapes: set[int] = field(default_factory=set)
    branched: bool = False
    simple: bool = False
    size: int = 0
    depth: int = 0
    python_blocks: int = 0
    has_loops: bool = False
    has_calls: bool = False
    returns: bool = False

    @property
    def left_early(self) -> bool:
        """Whether control may get out in another way than by its end."""
        return self.returns or bool(self.escapes)

    @property
    def loops(self) -> bool:
        return self.kind in ("LOOP", "FOR")


Node: TypeAlias = Step | Exit | Region


def grow(code: list[Instr], copies: Copies) -> Region:
    """The tree of a verified function's code, without copies of what never changes; its root is a region of
    kind FUNCTION with one arm."""
    root = Region(0, 0, "FUNCTION", 0, 0, [Arm()])
    regions = [root]
    count = 0
    dead = False
    dead_regions = 0
    for pc, instr in enumerate(code):
        name = instr[0]
        if dead:
            if name in OPENS_REGION:
                dead_regions += 1
                continue
            if dead_regions:
                dead_regions -= name == "END"
                continue
            if name not in ("ELSE", "CASE", "DEFAULT", "CATCH", "END"):
                continue
        top = regions[-1]
        if name in OPENS_REGION:
            count += 1
            opened = _open(pc, count, instr)
            top.arms[-1].nodes.append(opened)
            regions.append(opened)
            dead = name == "SWITCH"
        elif name in ("ELSE", "CASE", "DEFAULT", "CATCH"):
            _next_arm(top, instr, dead, code[pc - 1][0])
            dead = False
        elif name == "END":
            if top.arms:
                top.arms[-1].falls = not dead
            regions.pop()
            dead = _close(top, regions[-1])
        elif name in ("BR", "BR_IF"):
            target = regions[-1 - instr[1]]
            target.branched = True
            top.escapes.add(target.number)
            top.size += 1
            top.arms[-1].nodes.append(Exit(pc, target, name == "BR_IF"))
            dead = name == "BR"
        elif name != "COPY_OF" or not copies.are_shared(instr[1]):
            top.arms[-1].nodes.append(Step(pc, instr))
            top.size += 1
            top.has_calls |= name.startswith("CALL")
            top.returns |= name == "RETURN"
            if name == "STORE_LOCAL":
                top.stores.add(instr[1])
            dead = name in ENDS_PATH
    root.arms[-1].falls = not dead
    return root


def _open(pc: int, number: int, instr: Instr) -> Region:
    match instr[0]:
        case "LOOP":
            region = Region(pc, number, "LOOP", 0, 0)
        case "FOR":
            region = Region(pc, number, "FOR", instr[1], 0)
            region.stores.add(instr[1])
        case kind:
            region = Region(pc, number, kind, 0, instr[1])
    if region.kind != "SWITCH":
        region.arms.append(Arm())
    return region


def _next_arm(region: Region, instr: Instr, dead: bool, before: str) -> None:
    name = instr[0]
    if region.arms and before not in ("CASE", "DEFAULT", "SWITCH"):
        region.arms[-1].falls = not dead
        region.arms.append(Arm())
    elif not region.arms:
        region.arms.append(Arm())
    arm = region.arms[-1]
    if name == "CASE":
        arm.labels.append(instr[1])
    elif name == "CATCH":
        region.local = instr[1]
        region.stores.add(instr[1])
    else:
        arm.default = True


def _close(region: Region, parent: Region) -> bool:
    """Adds up a finished region into its parent; true if the code after its END cannot be reached."""
    reached = region.branched and not region.loops
    if region.kind == "FOR":
        reached = True
    elif region.kind != "LOOP":
        reached = reached or any(arm.falls for arm in region.arms)
        if region.kind == "IF" and len(region.arms) == 1:
            reached = True
        if region.kind == "SWITCH" and not any(arm.default for arm in region.arms):
            reached = True
    region.escapes.discard(region.number)
    region.simple = _is_expression(region)
    parent.stores |= region.stores
    parent.escapes |= region.escapes
    parent.size += region.size + 1
    parent.depth = max(parent.depth, region.depth + 1)
    own = region.kind in ("LOOP", "FOR", "TRY")
    parent.has_loops |= region.has_loops or region.loops
    parent.has_calls |= region.has_calls
    parent.returns |= region.returns
    parent.python_blocks = max(parent.python_blocks, region.python_blocks + own)
    return not reached


def _is_expression(region: Region) -> bool:
    if region.kind != "IF" or not region.result or region.branched or region.size > _EXPRESSION_SIZE:
        return False
    return all(_arm_is_expression(arm) for arm in region.arms)


def _arm_is_expression(arm: Arm) -> bool:
    for node in arm.nodes:
        match node:
            case Step(instr=instr) if pushes(instr) == 1:
                continue
            case Region(simple=True):
                continue
            case _:
                return False
    return True

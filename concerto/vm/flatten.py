"""Lowering of structured control flow to jumps, for the interpreter.

Regions become jumps with absolute targets; every jump says to which height the stack is cut and how many
values on top survive. What can never be reached is left out. An iterator of a FOR lies on the stack below
the values of its body, so heights here are those of the real stack.
"""

from __future__ import annotations

from typing import Any

from concerto.ir.module import Function, Instr, ModuleIR
from concerto.ir.stack import ENDS_PATH, OPENS_REGION, pops, pushes
from concerto.records import field, record


@record
class Guard:
    """Instructions `start` up to `end` are guarded: a throw among them goes to `target`."""

    start: int
    end: int
    target: int
    height: int
    local: int


@record
class Flat:
    """A function ready for the interpreter. `origin[i]` is the IR instruction that `code[i]` comes from.
    `guards` has the innermost first."""

    code: list[list[Any]] = field(default_factory=list)
    origin: list[int] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)


def flatten(function: Function, module: ModuleIR) -> Flat:
    """The jumps form of a verified function."""
    return _Flattener(function, module).run()


@record
class _Region:
    """`exits` are the jumps that lead to the region's end, `branch` the one around the current arm."""

    kind: str
    height: int
    result: int
    start: int = 0
    local: int = 0
    exits: list[list[Any]] = field(default_factory=list)
    branch: list[Any] | None = None
    cases: dict[int | str, int] = field(default_factory=dict)


class _Flattener:
    def __init__(self, function: Function, module: ModuleIR) -> None:
        self._source = function.code
        self._constants = module.constants
        self._flat = Flat()
        self._regions = [_Region("FUNCTION", 0, 0)]
        self._height = 0
        self._dead = False
        self._dead_regions = 0
        self._pc = 0

    def run(self) -> Flat:
        for pc, instr in enumerate(self._source):
            self._pc = pc
            name = instr[0]
            if self._dead and not self._wakes(name):
                continue
            if name in OPENS_REGION:
                self._open(instr)
            elif name in ("ELSE", "CASE", "DEFAULT", "CATCH", "END"):
                self._border(instr)
            elif name in ("BR", "BR_IF"):
                self._branch(instr)
            else:
                self._emit(*instr)
                self._height += pushes(instr) - pops(instr)
            self._dead = self._dead or name in ENDS_PATH
        self._pc = max(len(self._source) - 1, 0)
        self._emit("LOAD_NIL")
        self._emit("RETURN")
        return self._flat

    def _wakes(self, name: str) -> bool:
        """Follows the regions inside dead code; true where code can be reached again, or a region ends."""
        if name in OPENS_REGION:
            self._dead_regions += 1
            return False
        if self._dead_regions:
            self._dead_regions -= name == "END"
            return False
        return name in ("ELSE", "CASE", "DEFAULT", "CATCH", "END")

    def _emit(self, name: str, *operands: Any) -> list[Any]:
        instruction = [name, *operands]
        self._flat.code.append(instruction)
        self._flat.origin.append(self._pc)
        return instruction

    def _open(self, instr: Instr) -> None:
        name = instr[0]
        self._height -= pops(instr)
        here = len(self._flat.code)
        match name:
            case "LOOP":
                region = _Region(name, self._height, 0, here)
                self._emit("TICK")
            case "FOR":
                self._emit("FOR_START")
                self._height += 1
                region = _Region(name, self._height, 0, here + 1)
                region.exits.append(self._emit("FOR_NEXT", instr[1], None))
            case "IF":
                region = _Region(name, self._height, instr[1])
                region.branch = self._emit("JUMP_IF_FALSE", None)
            case "SWITCH":
                region = _Region(name, self._height, instr[1])
                region.branch = self._emit("SWITCH", region.cases, None)
                self._dead = True
            case _:
                region = _Region(name, self._height, instr[1], here)
        self._regions.append(region)

    def _border(self, instr: Instr) -> None:
        region = self._regions[-1]
        name = instr[0]
        if not self._dead:
            if name == "END" and region.kind in ("LOOP", "FOR"):
                self._emit("JUMP", region.start, region.height, 0)
            elif name != "END" and self._source[self._pc - 1][0] not in ("CASE", "DEFAULT"):
                region.exits.append(self._emit("JUMP", None, region.height, region.result))
        here = len(self._flat.code)
        self._dead = False
        self._height = region.height
        match name:
            case "ELSE":
                self._land(region.branch, here)
                region.branch = None
            case "CASE":
                region.cases[self._constants[instr[1]]] = here  # type: ignore[index]
            case "DEFAULT":
                self._land(region.branch, here)
                region.branch = None
            case "CATCH":
                self._flat.guards.append(Guard(region.start, here, here, region.height, instr[1]))
            case _:
                self._close(region, here)

    def _close(self, region: _Region, here: int) -> None:
        self._land(region.branch, here)
        for jump in region.exits:
            self._land(jump, here)
        self._regions.pop()
        self._height = region.height + region.result - (region.kind == "FOR")

    @staticmethod
    def _land(jump: list[Any] | None, here: int) -> None:
        if jump is not None:
            jump[jump.index(None)] = here

    def _branch(self, instr: Instr) -> None:
        region = self._regions[-1 - instr[1]]
        name = "JUMP"
        if instr[0] == "BR_IF":
            name = "JUMP_IF_TRUE"
            self._height -= 1
        if region.kind in ("LOOP", "FOR"):
            self._emit(name, region.start, region.height, 0)
        else:
            region.exits.append(self._emit(name, None, region.height, region.result))

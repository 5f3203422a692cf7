"""Specialisation: functions that are given a constant table of a trait's methods, once more for each table.

Such a copy calls the methods by name. It comes after the functions of the module, so that what is known of
functions by their numbers holds for the copies too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from concerto.ir.module import Function, Instr, ModuleIR, Position
from concerto.ir.stack import ENDS_PATH, OPENS_REGION, pops, pushes
from concerto.records import replace
from concerto.vm.python_tier.tables import find_tables

MOST_COPIES = 200

_Wanted: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""A function, and its locals that hold tables with the functions that give these."""


@dataclass(slots=True)
class Specialised:
    """`module` with the copies; `originals` are the functions that these are copies of."""

    module: ModuleIR
    originals: list[int]


@dataclass(slots=True)
class _Copies:
    """`tables` are the functions that give a table of functions, and these; `wanted` the copies to make, by
    their numbers."""

    module: ModuleIR
    tables: Mapping[int, Sequence[int]]
    wanted: dict[_Wanted, int] = field(default_factory=dict)
    _assigned: dict[int, set[int]] = field(default_factory=dict)

    def assigned(self, index: int) -> set[int]:
        """The locals that a function assigns."""
        if index not in self._assigned:
            code = self.module.functions[index].code
            found = {instr[1] for instr in code if instr[0] in ("STORE_LOCAL", "FOR", "CATCH")}
            self._assigned[index] = found
        return self._assigned[index]

    def number(self, index: int, given: Mapping[int, int]) -> int:
        """The function to call in place of one that is given tables; itself if there are copies enough."""
        wanted = (index, tuple(sorted(given.items())))
        if wanted not in self.wanted:
            if len(self.wanted) >= MOST_COPIES:
                return index
            self.wanted[wanted] = len(self.module.functions) + len(self.wanted)
        return self.wanted[wanted]


def specialise(module: ModuleIR) -> Specialised:
    """The module itself if there is nothing to specialise."""
    copies = _Copies(module, _find_methods(module))
    if not copies.tables:
        return Specialised(module, [])
    functions = [_of_copies(copies, function) for function in module.functions]
    originals: list[int] = []
    while len(originals) < len(copies.wanted):
        index, given = list(copies.wanted)[len(originals)]
        functions.append(_copy(copies, module.functions[index], dict(given)))
        originals.append(index)
    return Specialised(replace(module, functions=functions), originals)


def _find_methods(module: ModuleIR) -> dict[int, list[int]]:
    found = {}
    for index in find_tables(module):
        *loads, last = module.functions[index].code[:-1] or [()]
        functions = [instr[1] for instr in loads if instr[0] == "LOAD_FUNCTION"]
        if last == ("BUILD_TUPLE", len(loads)) and len(functions) == len(loads):
            found[index] = functions
    return found


def _of_copies(copies: _Copies, function: Function) -> Function:
    """A function that calls copies where it gives constant tables."""
    code = list(function.code)
    _call_copies(copies, code, {pc: instr[1] for pc, instr in enumerate(code) if _gives_table(copies, instr)})
    return function if code == function.code else replace(function, code=code)


def _gives_table(copies: _Copies, instr: Instr) -> bool:
    return instr[0] == "CALL" and instr[2] == 0 and instr[1] in copies.tables


def _call_copies(copies: _Copies, code: list[Instr], tables: Mapping[int, int]) -> None:
    """Put copies in the place of functions that are given `tables`, which stand where they are pushed."""
    given: dict[int, dict[int, int]] = {}
    for pc, table in tables.items():
        use, place = _use(code, pc)
        match code[use] if use else ():
            case ("CALL" | "MAKE_CLOSURE", index, _) if place not in copies.assigned(index):
                given.setdefault(use, {})[place] = table
            case _:
                pass
    for use, those in given.items():
        opcode, index, count = code[use]
        code[use] = (opcode, copies.number(index, those), count)


def _copy(copies: _Copies, function: Function, given: Mapping[int, int]) -> Function:
    """A function with constant tables in place of locals."""
    code = list(function.code)
    tables: dict[int, int] = {}
    left_out: set[int] = set()
    for pc, instr in enumerate(function.code):
        if instr[0] == "LOAD_LOCAL" and instr[1] in given:
            tables[pc] = given[instr[1]]
            code[pc] = ("CALL", tables[pc], 0)
        elif _gives_table(copies, instr):
            tables[pc] = instr[1]
    for pc, table in tables.items():
        match code[pc + 1]:
            case ("GET_ITEM", place) if place < len(copies.tables[table]):
                method = copies.tables[table][place]
                left_out.add(pc)
                code[pc + 1] = ("LOAD_FUNCTION", method)
                use, position = _use(code, pc + 1)
                count = len(copies.module.functions[method].parameters)
                if use and position == 0 and code[use] == ("CALL_VALUE", count):
                    left_out.add(pc + 1)
                    code[use] = ("CALL", method, count)
            case _:
                pass
    _call_copies(copies, code, {pc: table for pc, table in tables.items() if pc not in left_out})
    kept = [pc for pc in range(len(code)) if pc not in left_out]
    return replace(
        function,
        code=[code[pc] for pc in kept],
        positions=[Position(bisect_left(kept, each.pc), each.start, each.end) for each in function.positions],
    )


def _use(code: Sequence[Instr], pc: int) -> tuple[int, int]:
    """The instruction that takes what another one pushes, and its place in what is taken; (0, 0) if that is
    not to be seen."""
    height = 1
    around: list[tuple[int, int]] = []
    dead = False
    for at in range(pc + 1, len(code)):
        instr = code[at]
        if instr[0] in ("ELSE", "CASE", "DEFAULT", "CATCH", "END"):
            if not around:
                return 0, 0
            below, result = around[-1]
            dead = False
            height = below
            if instr[0] == "END":
                around.pop()
                height += result
            continue
        if dead:
            if instr[0] in OPENS_REGION:
                return 0, 0
            continue
        taken = pops(instr)
        if taken >= height:
            return at, taken - height
        height += pushes(instr) - taken
        if instr[0] in OPENS_REGION:
            around.append((height, 0 if instr[0] in ("LOOP", "FOR") else instr[1]))
        dead = instr[0] in ENDS_PATH
    return 0, 0

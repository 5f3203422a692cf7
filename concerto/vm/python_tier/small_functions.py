"""Inlining decisions: which functions are small enough to be written where they are called."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container

from concerto.ir.module import Function, ModuleIR
from concerto.ir.opcodes import OPCODES

_COMPUTING = frozenset(name for name, opcode in OPCODES.items() if opcode.effect in ("pure", "read"))

_CALLING = frozenset({"CALL", "CALL_VALUE", "CALL_METHOD", "CALL_STATIC"})

_WRITTEN = frozenset(
    {
        *_COMPUTING, *_CALLING,
        *("LOAD_CONST", "LOAD_LOCAL", "STORE_LOCAL", "LOAD_FUNCTION", "LOAD_TYPE", "MAKE_CLOSURE", "RETURN"),
        *("BUILD_ARRAY", "BUILD_TUPLE", "BUILD_STRUCT", "BUILD_VARIANT", "BUILD_MAP", "BUILD_RANGE"),
        *("FORMAT", "TO_STRING", "IS_TYPE", "CALL_NATIVE", "IF", "ELSE", "SWITCH", "CASE", "DEFAULT", "END"),
    }
)  # fmt: skip
"""The instructions of functions that are one expression."""

SMALL = 32
"""A function of more instructions, those of small ones that it calls included, is called."""

_CALLED = SMALL + 1


def find_small(module: ModuleIR) -> frozenset[int]:
    """The functions that are written where they are called."""
    sizes: dict[int, float] = {}
    return frozenset(index for index in range(len(module.functions)) if _size(module, index, sizes) <= SMALL)


def _size(module: ModuleIR, index: int, sizes: dict[int, float]) -> float:
    """How many instructions are written for a call; infinite while that is found out, which keeps functions
    that call one another in a circle apart."""
    if index not in sizes:
        sizes[index] = math.inf
        function = module.functions[index]
        size: float = len(function.code)
        if size <= SMALL and is_written(function):
            for instr in function.code:
                if instr[0] == "CALL":
                    called = _size(module, instr[1], sizes)
                    size += called if called != _CALLED else 0
        else:
            size = _CALLED
        sizes[index] = min(size, _CALLED)
    return sizes[index]


def is_written(function: Function) -> bool:
    """Whether a function may be one expression."""
    return all(instr[0] in _WRITTEN for instr in function.code)


def quiet_loads(function: Function) -> Counter[int]:
    """How often each local is loaded if nothing but the function itself runs meanwhile; empty if other code
    may change what it reads."""
    if any(instr[0] in _CALLING or instr[0] == "CALL_NATIVE" for instr in function.code):
        return Counter()
    return Counter(instr[1] for instr in function.code if instr[0] == "LOAD_LOCAL")


def is_first(function: Function, number: int, tables: Container[int]) -> bool:
    """Whether a local is read once, and nothing is computed before."""
    load = ("LOAD_LOCAL", number)
    for instr in function.code:
        if instr == load:
            return function.code.count(load) == 1
        if instr[0] not in _CONSTANTS and not (instr[0] == "CALL" and instr[1] in tables):
            return False
    return False


_CONSTANTS = frozenset(
    {"LOAD_CONST", "LOAD_TRUE", "LOAD_FALSE", "LOAD_NIL", "LOAD_NONE", "LOAD_FUNCTION", "LOAD_LOCAL"}
)

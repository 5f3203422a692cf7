"""Memoized constant tables: functions that give the same tuple of functions at every call, as the tables of a
trait's methods are: they are called once."""

from __future__ import annotations

from concerto.ir.module import ModuleIR

_BUILDS = frozenset(("LOAD_FUNCTION", "LOAD_LOCAL", "MAKE_CLOSURE", "BUILD_TUPLE", "RETURN", "CALL"))

_MOST_ROUNDS = 5
"""Tables of tables of tables: deeper ones are made where they are needed."""


def find_tables(module: ModuleIR) -> frozenset[int]:
    """Those that only put functions together, or call others that do."""
    calls: dict[int, set[int]] = {}
    for index, function in enumerate(module.functions):
        if not function.captures and all(instr[0] in _BUILDS for instr in function.code):
            calls[index] = {instr[1] for instr in function.code if instr[0] == "CALL"}
    found: set[int] = set()
    for _ in range(_MOST_ROUNDS):
        more = [index for index, called in calls.items() if called <= found]
        found.update(more)
        for index in more:
            del calls[index]
    return frozenset(found)

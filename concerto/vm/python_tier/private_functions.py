"""Escape analysis of functions: which are called by name only, so that all their callers are known."""

from __future__ import annotations

from concerto.ir.module import ModuleIR


def private_functions(module: ModuleIR) -> set[int]:
    """Functions that are called by name and that nothing else refers to."""
    called: set[int] = set()
    others = {index for definition in module.types for index in definition.methods.values()}
    others |= {index for agent in module.agents for index in agent.methods.values()}
    others |= {export.function for export in module.exports if export.function is not None}
    for function in module.functions:
        for instr in function.code:
            if instr[0] == "CALL":
                called.add(instr[1])
            elif instr[0] in ("LOAD_FUNCTION", "MAKE_CLOSURE"):
                others.add(instr[1])
    return {index for index in called - others if module.functions[index].parameters}

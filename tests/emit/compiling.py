"""Source text to IR, for tests of what is emitted."""

from __future__ import annotations

from concerto.diagnostics import Problems, render
from concerto.emit import emit_program
from concerto.ir.module import Function, ModuleIR
from concerto.semantics import check_program
from concerto.source import Source
from concerto.syntax.parser import parse
from tests.semantics.checking import Files


def emit(text: str) -> ModuleIR:
    problems = Problems()
    tree = parse(Source("main.conc", text), problems)
    analysis = check_program(tree, Files(), problems)
    assert not problems.errors, render(problems)
    return emit_program(analysis)


def function(module: ModuleIR, name: str) -> Function:
    return next(function for function in module.functions if function.name == name)


def opcodes(module: ModuleIR, name: str) -> list[str]:
    """The instructions of a function by name alone."""
    return [instr[0] for instr in function(module, name).code]

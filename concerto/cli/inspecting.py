"""`concertoc dis`."""

from __future__ import annotations

import sys

from concerto.cli.reporting import OK, USAGE, cannot, show_problems
from concerto.cli.targets import program_file
from concerto.compiler.compiled import read_module
from concerto.compiler.disk import IR_SUFFIX
from concerto.compiler.driver import load_program
from concerto.diagnostics import Problems
from concerto.ir.disassembler import disassemble
from concerto.ir.module import ModuleIR
from concerto.manifest import ManifestError


def show_disassembly(target: str) -> int:
    """Prints the IR of a program for people."""
    problems = Problems()
    try:
        module = _module_of(target, problems)
    except ManifestError as broken:
        show_problems(broken.problems)
        return USAGE
    show_problems(problems)
    if module is None:
        return USAGE
    sys.stdout.write(disassemble(module))
    return OK


def _module_of(target: str, problems: Problems) -> ModuleIR | None:
    path = program_file(target)
    try:
        if path.suffix == IR_SUFFIX:
            return read_module(path, problems)
        program = load_program(path, problems)
    except OSError as error:
        raise cannot("read", error.filename or path, error) from None
    return program.module if program is not None else None

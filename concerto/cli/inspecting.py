"""`concertoc dis` and `concertoc explain`."""

from __future__ import annotations

import sys
import textwrap

from concerto.cli.reporting import OK, USAGE, Failure, cannot, show_problems
from concerto.cli.targets import IR_SUFFIX, program_file
from concerto.compiler.compiled import read_module
from concerto.compiler.store import load_program
from concerto.diagnostics import Problems, all_problem_classes, explain, suggest
from concerto.diagnostics.explanation import Example, Explanation
from concerto.ir.disassembler import disassemble
from concerto.ir.module import Module
from concerto.manifest import ManifestError

_WIDTH = 88


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


def _module_of(target: str, problems: Problems) -> Module | None:
    path = program_file(target)
    try:
        if path.suffix == IR_SUFFIX:
            return read_module(path, problems)
        program = load_program(path, problems)
    except OSError as error:
        raise cannot("read", error.filename or path, error) from None
    return program.module if program is not None else None


def show_explanation(code: str | None) -> int:
    """Prints the page of a code, or all codes with their titles."""
    if code is None:
        for name, cls in all_problem_classes().items():
            print(f"{name}  {cls.title}")
        return OK
    page = explain(code)
    if page is None:
        near = suggest(code.upper(), all_problem_classes())
        advice = f"did you mean `{near}`?" if near else "`concertoc explain` lists all codes"
        raise Failure(f"there is no code `{code}`; {advice}")
    print(_page(page))
    return OK


def _page(page: Explanation) -> str:
    parts = [f"{page.code}: {page.title}", textwrap.fill(page.text, _WIDTH)]
    parts += _example("Wrong:", page.wrong)
    parts += _example("Right:", page.right)
    return "\n\n".join(parts)


def _example(title: str, example: Example | None) -> list[str]:
    return [f"{title}\n\n{textwrap.indent(example.text.rstrip(), '    ')}"] if example else []

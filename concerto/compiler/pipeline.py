"""The passes in their order. Each adds to `problems`; the next begins only if none found an error."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from concerto.compiler.depth import with_room
from concerto.diagnostics import NoMain, Problems, TooDeep, suggest
from concerto.ir.module import Module
from concerto.source import Source

if TYPE_CHECKING:
    from concerto.semantics.analysis import Analysis
    from concerto.semantics.project import Project

R = TypeVar("R")


class CompileError(Exception):
    """A program that does not compile; `problems` say why, warnings included."""

    def __init__(self, problems: Problems) -> None:
        from concerto.diagnostics import render

        super().__init__("\n" + render(problems).rstrip())
        self.problems = problems


def read_source(data: bytes, path: str, problems: Problems) -> Source:
    """The text of a file; `path` is shown to people."""
    from concerto.syntax.parser import decode

    return decode(data, path, problems)


def analyze(source: Source, project: Project, problems: Problems) -> Analysis | None:
    """Parses and checks; None if there is an error."""
    return _run(lambda: _analyze(source, project, problems), source, problems)


def compile_module(source: Source, project: Project, problems: Problems) -> Module | None:
    """All passes; None if there is an error."""
    return _run(lambda: _compile(source, project, problems), source, problems)


def _analyze(source: Source, project: Project, problems: Problems) -> Analysis | None:
    from concerto.semantics import check_program
    from concerto.syntax.parser import parse

    tree = parse(source, problems)
    if problems.errors:
        return None
    analysis = check_program(tree, project, problems)
    return None if problems.errors else analysis


def _compile(source: Source, project: Project, problems: Problems) -> Module | None:
    from concerto.emit import emit_program

    analysis = _analyze(source, project, problems)
    return emit_program(analysis) if analysis is not None else None


def _run(passes: Callable[[], R | None], source: Source, problems: Problems) -> R | None:
    """The passes, with room for deep programs and without the garbage collector: trees and tables of a
    compilation live to its end, and looking for garbage among them is in vain."""
    paused = gc.isenabled()
    gc.disable()
    try:
        return with_room(passes)
    except RecursionError:
        problems.add(TooDeep(source.span(0, 0), "the program is nested too deeply to be compiled"))
        return None
    finally:
        if paused:
            gc.enable()


def require_main(module: Module, source: Source, problems: Problems) -> None:
    """A program that is to be run has a `main`."""
    if module.entry is not None:
        return
    near = suggest("main", (function.name for function in module.functions))
    advice = f"did you mean `{near}`? " if near else ""
    problems.add(
        NoMain(
            source.span(0, 0),
            f"`{source.path}` has no `main` function",
            help=f"{advice}a program starts at `fn main() {{ … }}`",
        )
    )

"""From source text to a program: decode, parse, check, emit, and a cache of the result.

`compile_file` and `compile_source` are the Python API: they give a `Program` or raise `CompileError`.
The command line uses `analyze` and `compile_module`, which add to `Problems` and raise nothing.
"""

from __future__ import annotations

from pathlib import Path

from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import CompileError, analyze, compile_module, read_source
from concerto.compiler.store import load_program
from concerto.diagnostics import Problems
from concerto.program import Program

__all__ = [
    "CompileError",
    "DiskProject",
    "analyze",
    "compile_file",
    "compile_module",
    "compile_source",
    "load_program",
    "read_source",
]


def compile_file(path: str | Path) -> Program:
    """The program that begins in the file `path`, from the cache if nothing it depends on has changed.

    Raises `CompileError` with all problems, or `OSError` if the file cannot be read.
    """
    problems = Problems()
    program = load_program(Path(path), problems)
    if program is None:
        raise CompileError(problems)
    return program


def compile_source(text: str, *, path: str = "<source>", folder: str | Path = ".") -> Program:
    """The program with the given text; `use` paths start at `folder`."""
    problems = Problems()
    project = DiskProject(Path(folder), None, problems)
    module = compile_module(
        read_source(text.encode("utf-8", "surrogatepass"), path, problems), project, problems
    )
    if module is None:
        raise CompileError(problems)
    return Program(module)

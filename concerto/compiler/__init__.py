"""From source text to a program: decode, parse, check, emit, and a cache of the result.

`compile_file` and `compile_source` are the Python API: they give a `Program` or raise `CompileError`.
The command line uses the modules of this package, which add to `Problems` instead. Importing the
package loads neither the passes nor the runtime.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from concerto.compiler.pipeline import CompileError, compile_module, read_source
from concerto.diagnostics import Problems

if TYPE_CHECKING:
    from concerto.program import Program

__all__ = ["CompileError", "compile_file", "compile_source"]


def compile_file(path: str | Path) -> Program:
    """The program that begins in the file `path`, from the cache if nothing it depends on has changed.

    Raises `CompileError` with all problems, `ManifestError` for a broken manifest, or `OSError` if the file
    cannot be read.
    """
    from concerto.compiler.store import load_program

    problems = Problems()
    program = load_program(Path(path), problems)
    if program is None:
        raise CompileError(problems)
    return program


def compile_source(text: str, *, path: str = "<source>", folder: str | Path = ".") -> Program:
    """The program with the given text; `use` paths start at `folder`."""
    from concerto.compiler.disk import DiskProject
    from concerto.program import Program

    problems = Problems()
    source = read_source(text.encode("utf-8", "surrogatepass"), path, problems)
    module = compile_module(source, DiskProject(Path(folder), None, problems), problems)
    if module is None:
        raise CompileError(problems)
    return Program(module)

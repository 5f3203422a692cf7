"""Concerto programs as Python modules: `load` gives one, `stubs` writes what type checkers know of it.

`surface` says which names and types a program has in Python, `models` makes the classes, `conversions` takes
values across, `loaded` calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Unpack

    from concerto.embedding.loaded import LoadedProgram
    from concerto.runtime.run.options import RunKeywords

__all__ = ["load"]


def load(path: str | Path, **options: Unpack[RunKeywords]) -> LoadedProgram:
    """The program of a file as a module: its public functions, its agents and its types.

    `options` hold for every call; the Python tools among them are known to the compiler too. A program may be
    loaded once and called from any number of threads and tasks: each call is a run of its own. Nothing is
    printed but what the program prints. Raises as `compile_file` does, and TypeError for options that calls
    cannot have.

    >>> import concerto, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "sums.conc")
    >>> _ = file.write_text("pub fn add(a: Int, b: Int = 1) -> Int { a + b }")
    >>> sums = concerto.load(file)
    >>> sums.add(41)
    42
    """
    from concerto.embedding.loaded import load_program

    return load_program(Path(path), options)

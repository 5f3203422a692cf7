"""Loader of compiled programs, `.conc-ir` files."""

from __future__ import annotations

from pathlib import Path

from concerto.compiler.disk import shown_path
from concerto.compiler.pipeline import require_main
from concerto.diagnostics import Problems
from concerto.ir.codec import decode
from concerto.ir.module import ModuleIR
from concerto.ir.verifier import verify
from concerto.manifest.load_cached import project_around
from concerto.program import Program
from concerto.source import Source


def load_compiled(path: Path, problems: Problems, *, to_run: bool = False) -> Program | None:
    """The program of an IR file, verified; None if there is an error. Raises `OSError`, or
    `ManifestError` for a broken manifest."""
    module = read_module(path, problems)
    if module is None:
        return None
    if to_run and module.entry is None:
        require_main(module, Source(shown_path(path), ""), problems)
        return None
    return Program(module, project=project_around(path))


def read_module(path: Path, problems: Problems) -> ModuleIR | None:
    """The module of an IR file, if it is one that may run."""
    file = shown_path(path)
    module = decode(path.read_bytes(), file, problems)
    if module is None or not verify(module, problems, file):
        return None
    return module

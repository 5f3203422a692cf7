"""Compiles and runs a test program inside this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from concerto.compiler.disk import DiskProject, open_project
from concerto.compiler.pipeline import compile_module, read_source, require_main
from concerto.diagnostics import Problem, Problems
from concerto.ir.codec import decode, encode
from concerto.ir.module import ModuleIR
from concerto.ir.verifier import verify
from concerto.manifest import find_manifest, load_manifest
from concerto.program import Program, Runtime
from concerto.vm.machine import Tier
from tests.harness.expectations import MAIN, Expectations

# A program that hangs is a failure of its own, not of all tests.
_SECONDS = 120.0


@dataclass(frozen=True)
class Outcome:
    status: int
    stdout: str
    stderr: str


def compile_program(
    files: dict[str, str], folder: Path, *, to_run: bool
) -> tuple[ModuleIR | None, list[Problem]]:
    """Writes the program's files into `folder` and compiles; paths in problems are relative to it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
    problems = Problems()
    with _inside(folder):
        main = Path(MAIN)
        project: DiskProject = open_project(main, problems)
        source = read_source(main.read_bytes(), MAIN, problems)
        module = compile_module(source, project, problems)
        if module is not None and to_run:
            require_main(module, source, problems)
    return (None if problems.errors else module), list(problems)


def read_again(module: ModuleIR) -> ModuleIR:
    """The program as a run finds it that goes on, from what was written of it."""
    problems = Problems()
    read = decode(encode(module), MAIN, problems)
    assert read is not None and verify(read, problems), [each.message for each in problems]
    return read


def run_program(module: ModuleIR, expected: Expectations, folder: Path, tier: Tier) -> Outcome:
    """Runs `main` as `concerto run` would."""
    out, err = StringIO(), StringIO()
    with _inside(folder), _environment(expected.environment), redirect_stdout(out), redirect_stderr(err):
        manifest_path = find_manifest(folder)
        runtime = Runtime(
            Program(module),
            echo=True,
            mock="mock" in expected.flags,
            quiet="quiet" in expected.flags,
            json="json" in expected.flags,
            manifest=load_manifest(manifest_path) if manifest_path else None,
            args=tuple(expected.arguments),
            timeout=_SECONDS,
            tier=tier,
        )
        status = runtime.run().status
    return Outcome(status, out.getvalue(), err.getvalue())


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)

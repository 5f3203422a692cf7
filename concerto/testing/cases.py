"""Finds tests: the `@test` functions of one file, or of all files under a folder.

A file is compiled as a program of its own, and its tests are those written in it, not those of the modules
that it uses: these are found in their own files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from concerto.diagnostics import Problems
from concerto.ir.module import ModuleIR, Test
from concerto.program import Program
from concerto.source import Source
from concerto.trust.defaults import LIBRARY_TOOLS, NATIVES

_MARK = b"@test"
_CHANGES_THE_WORLD = frozenset(name for name, labels in NATIVES.items() if "fs" in labels)
_TOUCHES_THE_WORLD = frozenset(f"std::tools::{tool}" for tool, _ in LIBRARY_TOOLS)


@dataclass(frozen=True)
class Case:
    """One test; `name` is the text of `@test("…")` or the function's. `line` counts from 1."""

    program: Program
    test: Test
    file: str
    line: int
    folder: Path

    @property
    def name(self) -> str:
        return self.test.name

    @property
    def title(self) -> str:
        return f"{self.file} :: {self.name}"


@dataclass(frozen=True)
class TestFile:
    """The tests of a file; `together` says whether they may run at the same time."""

    path: Path
    cases: tuple[Case, ...]
    together: bool

    __test__ = False  # pytest takes classes of this name for tests.


def find_tests(path: Path, problems: Problems) -> list[TestFile]:
    """The tests of a file, or of the files under a folder; programs that do not compile add to `problems`.

    Raises `OSError` for a file that cannot be read and `ManifestError` for a broken manifest.
    """
    from concerto.compiler.disk import sources_below

    if not path.is_dir():
        return [tests_of(path, problems)]
    found = (tests_of(file, problems) for file in sources_below(path) if _MARK in file.read_bytes())
    return [file for file in found if file.cases]


def tests_of(path: Path, problems: Problems) -> TestFile:
    """The tests written in one file."""
    from concerto.compiler.disk import shown_path
    from concerto.compiler.driver import load_program

    found = Problems()
    program = load_program(path, found)
    problems.add_all(found)
    if program is None:
        return TestFile(path, (), together=False)
    folder = program.project.folder if program.project is not None else path.parent
    module, shown = program.module, shown_path(path)
    cases = tuple(
        Case(program, test, shown, _line(module, test), folder)
        for test in module.tests
        if _file(module, test) == shown
    )
    return TestFile(path, cases, together=not _shares_the_world(program))


def _file(module: ModuleIR, test: Test) -> str:
    return module.files[module.functions[test.function].file].path


def _line(module: ModuleIR, test: Test) -> int:
    file = module.files[module.functions[test.function].file]
    return Source(file.path, file.text).line_column(test.start)[0]


def _shares_the_world(program: Program) -> bool:
    """Whether two tests of a program could meet outside of their runs: in files, processes, servers, or
    in the memory that each may take."""
    module, said = program.module, program.project.settings if program.project is not None else None
    if said is not None and (said.runtime.get("max_memory_mb") is not None or said.python_tools):
        return True
    if module.hosts or module.mcp_servers:
        return True
    if any(tool.name in _TOUCHES_THE_WORLD for tool in module.tools):
        return True
    return any(
        instruction[0] == "CALL_NATIVE" and instruction[1] in _CHANGES_THE_WORLD
        for function in module.functions
        for instruction in function.code
    )

"""From a program's first file to the program, the only way there is: the cache is looked into; else the
project is opened and the passes decode, parse, check and emit, and what they made is kept."""

from __future__ import annotations

from concerto.annotating import TYPE_CHECKING
from concerto.compiler.disk import DiskProject, ProgramFile, open_project, read_program
from concerto.compiler.packing import unpack_module, unpack_problems
from concerto.compiler.store import find_entry, find_units, save_entry, save_units
from concerto.diagnostics import Problems
from concerto.manifest.load_cached import project_around
from concerto.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.ir.module import ModuleIR
    from concerto.program import Program
    from concerto.source import Source


def load_program(
    path: str | Path, problems: Problems, *, to_run: bool = False, warn_again: bool = True
) -> Program | None:
    """The program that begins in `path`, with its warnings; None if there is an error.

    `to_run` asks for a `main`. Without `warn_again` there are only the warnings of what is compiled anew.
    Raises `OSError` if the file cannot be read and `ManifestError` for a broken manifest.
    """
    file = read_program(path)
    known = problems if warn_again else Problems()
    program = _from_cache(file, known) or _compiled(file, problems, known)
    if program is not None and to_run and program.module.entry is None:
        from concerto.compiler.pipeline import read_source, require_main

        require_main(program.module, read_source(file.data, file.shown, problems), problems)
        return None
    return program


@record(frozen=True)
class OpenedProgram:
    """A program that is about to be compiled: its first file, the text of that, and the project around it,
    which notes all that is looked at from now on."""

    file: ProgramFile
    source: Source
    project: DiskProject


def open_program(file: ProgramFile, problems: Problems) -> OpenedProgram:
    """Finds the project around a file; raises `ManifestError` for a broken manifest."""
    from pathlib import Path

    from concerto.compiler.pipeline import read_source

    path = Path(file.path)
    project = open_project(path, problems)
    project.looked_at[path.absolute()] = file.data
    return OpenedProgram(file, read_source(file.data, file.shown, problems), project)


def load_module(program: OpenedProgram, problems: Problems) -> ModuleIR | None:
    """The module of an opened program, as by `load_program`. Its project has then looked at everything that
    the result depends on."""
    module = _cached_module(program, problems)
    if module is None:
        module = _compiled_module(program, problems)
        if module is not None:
            save_entry(program.file, program.project.looked_at, problems, module, b"")
    return module


def _from_cache(file: ProgramFile, problems: Problems) -> Program | None:
    """Nothing but the cache is looked at, and the files that its entry names."""
    entry = find_entry(file)
    if entry is None or not entry.code:
        return None
    from concerto.program import Program

    problems.add_all(unpack_problems(entry.problems))
    return Program(unpack_module(entry.module), entry.code, project_around(file.path))


def _compiled(file: ProgramFile, problems: Problems, known: Problems) -> Program | None:
    """`known` gets the warnings of an earlier compilation, which made all but the code."""
    from concerto.program import Program
    from concerto.vm.python_tier import compile_module as compile_code

    program = open_program(file, problems)
    module = _cached_module(program, known)
    found = problems if module is None else known
    module = module or _compiled_module(program, problems)
    if module is None:
        return None
    code = compile_code(module)
    save_entry(file, program.project.looked_at, found, module, code)
    return Program(module, code, project_around(file.path))


def _cached_module(program: OpenedProgram, problems: Problems) -> ModuleIR | None:
    entry = find_entry(program.file)
    if entry is None:
        return None
    from pathlib import Path

    program.project.looked_at |= {Path(file): data for file, data in entry.looked_at}
    problems.add_all(unpack_problems(entry.problems))
    return unpack_module(entry.module)


def _compiled_module(program: OpenedProgram, problems: Problems) -> ModuleIR | None:
    """With the units that the last compilation of the same program left, and leaving some for the next."""
    from concerto.compiler.units import compile_changed

    done = compile_changed(program.source, program.project, problems, find_units(program.file))
    # Nor is there a module of bytes that are no text.
    if problems.errors:
        return None
    if done.units is not None:
        save_units(program.file, done.units)
    return done.module

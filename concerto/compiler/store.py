"""Programs from the cache, or compiled and put there.

A program's entry holds what the compilation looked at, file by file, beside its result, and counts only if
all of it is still the same byte for byte. Beside it stand the units of its files, for when some of them have
changed. Entries of another compiler, or of another Python, do not count.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from concerto.cache import entry_name, read_entry, write_entry
from concerto.compiler.disk import DiskProject, open_project, read_bytes, shown_path
from concerto.compiler.packing import pack_module, pack_problems, unpack_module, unpack_problems
from concerto.compiler.pipeline import read_source, require_main
from concerto.diagnostics import Problems
from concerto.manifest.load_cached import project_around
from concerto.program import Program
from concerto.records import record
from concerto.resources import code_folder, resource, state_of

if TYPE_CHECKING:
    from concerto.ir.module import ModuleIR
    from concerto.source import Source


_PASSES = ("compiler", "diagnostics", "emit", "ir", "manifest", "natives", "semantics", "syntax", "vm",
           "contracts", "schema")  # fmt: skip
"""The folders whose code has a say in what a program is compiled to."""


def load_program(
    path: Path, problems: Problems, *, to_run: bool = False, warn_again: bool = True
) -> Program | None:
    """The program that begins in `path`, with its warnings; None if there is an error.

    `to_run` asks for a `main`. Without `warn_again` there are only the warnings of what is compiled anew.
    Raises `OSError` if the file cannot be read and `ManifestError` for a broken manifest.
    """
    data = path.read_bytes()
    known = problems if warn_again else Problems()
    program = _from_cache(path, data, known) or _compiled(path, data, problems, known)
    if program is not None and to_run and program.module.entry is None:
        require_main(program.module, read_source(data, shown_path(path), problems), problems)
        return None
    return program


def load_module(source: Source, project: DiskProject, problems: Problems) -> ModuleIR | None:
    """The module of a project that was opened for its first file, as by `load_program`. The project has then
    looked at everything that the result depends on."""
    module = _kept_module(source, project, problems)
    if module is None:
        module = _compiled_module(source, project, problems)
        if module is not None:
            _keep(Path(source.path), project, problems, module, b"")
    return module


@record(frozen=True)
class _Kept:
    """An entry. `code` is empty if nobody has run the program yet."""

    shown: str
    looked_at: list[tuple[str, bytes | None]]
    problems: Any
    module: Any
    code: bytes


def _from_cache(path: Path, data: bytes, problems: Problems) -> Program | None:
    kept = _kept(path, data)
    if kept is None or not kept.code:
        return None
    problems.add_all(unpack_problems(kept.problems))
    return Program(unpack_module(kept.module), kept.code, project_around(path))


def _compiled(path: Path, data: bytes, problems: Problems, known: Problems) -> Program | None:
    """`known` gets the warnings of an earlier compilation, which made all but the code."""
    from concerto.vm.python_tier import compile_module as compile_code

    project = open_project(path, problems)
    project.looked_at[path.absolute()] = data
    source = read_source(data, shown_path(path), problems)
    module = _kept_module(source, project, known)
    found = problems if module is None else known
    module = module or _compiled_module(source, project, problems)
    if module is None:
        return None
    code = compile_code(module)
    _keep(path, project, found, module, code)
    return Program(module, code, project_around(path))


def _kept_module(source: Source, project: DiskProject, problems: Problems) -> ModuleIR | None:
    path = Path(source.path)
    kept = _kept(path, project.looked_at[path.absolute()] or b"")
    if kept is None:
        return None
    project.looked_at |= {Path(file): data for file, data in kept.looked_at}
    problems.add_all(unpack_problems(kept.problems))
    return unpack_module(kept.module)


def _compiled_module(source: Source, project: DiskProject, problems: Problems) -> ModuleIR | None:
    """With the units that the last compilation of the same program left, and leaving some for the next."""
    from concerto.compiler.units import compile_changed, pack_units, unpack_units

    name = _entry_name(Path(source.path), "units")
    kept = read_entry(name, _compiler())
    done = compile_changed(source, project, problems, unpack_units(kept) if kept is not None else None)
    # Nor is there a module of bytes that are no text.
    if problems.errors:
        return None
    if done.units is not None:
        write_entry(name, _compiler(), pack_units(done.units))
    return done.module


def _kept(path: Path, data: bytes) -> _Kept | None:
    entry = read_entry(_entry_name(path, "program"), _compiler())
    kept = _Kept(*entry) if entry is not None else None
    if kept is None or kept.shown != shown_path(path) or not _unchanged(kept.looked_at, path, data):
        return None
    return kept


def _keep(path: Path, project: DiskProject, problems: Problems, module: ModuleIR, code: bytes) -> None:
    looked_at = [(str(file), found) for file, found in project.looked_at.items()]
    packed = (pack_problems(problems), pack_module(module))
    entry = (shown_path(path), looked_at, *packed, code)
    write_entry(_entry_name(path, "program"), _compiler(), entry)


def _unchanged(looked_at: list[tuple[str, bytes | None]], path: Path, data: bytes) -> bool:
    start = str(path.absolute())
    return (start, data) in looked_at and all(
        found == read_bytes(Path(file)) for file, found in looked_at if file != start
    )


def _entry_name(path: Path, kind: str) -> str:
    place = f"{path.absolute()}\0{shown_path(path)}".encode("utf-8", "surrogateescape")
    return entry_name(place, kind)


def _compiler() -> bytes:
    return state_of([*map(code_folder, _PASSES), resource("grammar"), resource("stdlib")])

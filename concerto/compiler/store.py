"""What the cache keeps of compilations: of each program its module, and units of its files for when some have
changed.

A program's entry holds what the compilation looked at, file by file, beside its result, and counts only if
all of it is still the same byte for byte. Entries of another compiler, or of another Python, do not count.
"""

from __future__ import annotations

from collections.abc import Mapping

from concerto.annotating import TYPE_CHECKING, Any
from concerto.cache import entry_name, read_entry, write_entry
from concerto.compiler.disk import ProgramFile, state_at
from concerto.compiler.packing import pack_module, pack_problems
from concerto.diagnostics import Problems
from concerto.files import absolute_path
from concerto.records import record
from concerto.resources import state_of

if TYPE_CHECKING:
    from pathlib import Path

    from concerto.compiler.units import Units
    from concerto.ir.module import ModuleIR

_PASSES = ("compiler", "contracts", "diagnostics", "emit", "ir", "manifest", "natives", "schema", "semantics",
           "syntax", "trust", "vm", "vocabulary")  # fmt: skip
"""The folders whose code has a say in what a program is compiled to."""


@record(frozen=True)
class ProgramEntry:
    """`problems` and `module` are packed. `code` is empty if nobody has run the program yet."""

    shown: str
    looked_at: list[tuple[str, bytes | None]]
    problems: Any
    module: Any
    code: bytes


def find_entry(file: ProgramFile) -> ProgramEntry | None:
    """What is kept of the program that begins in a file, if all that it depends on is still the same."""
    stored = read_entry(_name(file, "program"), _compiler())
    entry = ProgramEntry(*stored) if stored is not None else None
    if entry is None or entry.shown != file.shown or not _unchanged(entry.looked_at, file):
        return None
    return entry


def save_entry(
    file: ProgramFile,
    looked_at: Mapping[Path, bytes | None],
    problems: Problems,
    module: ModuleIR,
    code: bytes,
) -> None:
    seen = [(str(path), data) for path, data in looked_at.items()]
    entry = (file.shown, seen, pack_problems(problems), pack_module(module), code)
    write_entry(_name(file, "program"), _compiler(), entry)


def find_units(file: ProgramFile) -> Units | None:
    """The units that the last compilation of a program left."""
    from concerto.compiler.units import unpack_units

    kept = read_entry(_name(file, "units"), _compiler())
    return unpack_units(kept) if kept is not None else None


def save_units(file: ProgramFile, units: Units) -> None:
    from concerto.compiler.units import pack_units

    write_entry(_name(file, "units"), _compiler(), pack_units(units))


def _unchanged(looked_at: list[tuple[str, bytes | None]], file: ProgramFile) -> bool:
    start = absolute_path(file.path)
    return (start, file.data) in looked_at and all(
        found == state_at(path) for path, found in looked_at if path != start
    )


def _name(file: ProgramFile, kind: str) -> str:
    place = f"{absolute_path(file.path)}\0{file.shown}".encode("utf-8", "surrogateescape")
    return entry_name(place, kind)


def _compiler() -> bytes:
    return state_of(_PASSES, ("grammar", "stdlib"))

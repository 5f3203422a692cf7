"""Programs from the cache, or compiled and put there.

An entry holds what the compilation looked at, file by file, beside its result, and counts only if all of
it is still the same byte for byte. Entries of another compiler, or of another Python, do not count.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import concerto
from concerto.compiler.disk import open_project, read_bytes, shown_path
from concerto.compiler.packing import pack_module, pack_problems, unpack_module, unpack_problems
from concerto.compiler.pipeline import compile_module, read_source, require_main
from concerto.diagnostics import Problems
from concerto.files import read_cached, write_cached
from concerto.program import Program


def load_program(path: Path, problems: Problems, *, to_run: bool = False) -> Program | None:
    """The program that begins in `path`, with its warnings; None if there is an error.

    `to_run` asks for a `main`. Raises `OSError` if the file cannot be read and `ManifestError` for
    a broken manifest.
    """
    data = path.read_bytes()
    name = _entry_name(path)
    program = _from_cache(name, path, data, problems)
    if program is None:
        program = _compiled(name, path, data, problems)
    if program is not None and to_run and program.module.entry is None:
        require_main(program.module, read_source(data, shown_path(path), problems), problems)
        return None
    return program


def _compiled(name: str, path: Path, data: bytes, problems: Problems) -> Program | None:
    from concerto.vm.python_tier import compile_module as compile_code

    project = open_project(path, problems)
    project.looked_at[path.absolute()] = data
    module = compile_module(read_source(data, shown_path(path), problems), project, problems)
    if module is None:
        return None
    code = compile_code(module)
    looked_at = [(str(file), found) for file, found in project.looked_at.items()]
    _store(name, (shown_path(path), looked_at, pack_problems(problems), pack_module(module), code))
    return Program(module, code)


def _from_cache(name: str, path: Path, data: bytes, problems: Problems) -> Program | None:
    entry = _entry(name)
    if entry is None:
        return None
    shown, looked_at, warnings, module, code = entry
    if shown != shown_path(path) or not _unchanged(looked_at, path, data):
        return None
    for problem in unpack_problems(warnings):
        problems.add(problem)
    return Program(unpack_module(module), code)


def _store(name: str, entry: tuple[Any, ...]) -> None:
    payload = _compiler() + marshal.dumps(entry)
    write_cached(name, zlib.crc32(payload).to_bytes(4, "big") + payload)


def _entry(name: str) -> Any:
    """What this compiler stored under a name, whole, or None."""
    stored, compiler = read_cached(name) or b"", _compiler()
    payload = memoryview(stored)[4:]
    if payload[: len(compiler)] != compiler or zlib.crc32(payload).to_bytes(4, "big") != stored[:4]:
        return None
    return marshal.loads(payload[len(compiler) :])


def _unchanged(looked_at: list[tuple[str, bytes | None]], path: Path, data: bytes) -> bool:
    start = str(path.absolute())
    return (start, data) in looked_at and all(
        found == read_bytes(Path(file)) for file, found in looked_at if file != start
    )


def _entry_name(path: Path) -> str:
    place = f"{path.absolute()}\0{shown_path(path)}".encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(place):08x}{zlib.adler32(place):08x}.program"


def _compiler() -> bytes:
    """Names this compiler: its version, its Python, and the state of its files for those who work on it."""
    home = Path(concerto.__file__).parent
    newest = max(_newest(folder) for folder in (home, home.parent / "grammar", home.parent / "stdlib"))
    return f"{concerto.__version__} {sys.version} {newest}\0".encode()


def _newest(folder: Path) -> int:
    newest = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    newest = max(newest, _newest(Path(entry)) if entry.name != "__pycache__" else 0)
                else:
                    newest = max(newest, entry.stat().st_mtime_ns)
    except OSError:
        return 0
    return newest

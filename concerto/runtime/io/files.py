"""Performs the effects that need nobody else: clock, random bytes, environment, files.

A file is opened step by step from its permitted folder without following links, so that nothing swapped in
after the permission was given leads out of it.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar, assert_never

from concerto.effects.kinds import (
    Clock,
    Env,
    FileSize,
    ListFolder,
    Random,
    ReadFile,
    RemoveFile,
    WriteFile,
)
from concerto.effects.permissions import Permissions
from concerto.vm.values import ErrorValue, Raised, Value
from concerto.well_formed import well_formed

T = TypeVar("T")

Local: TypeAlias = Clock | Random | Env | ReadFile | WriteFile | ListFolder | RemoveFile | FileSize

_MOST_BYTES = 256 * 1024 * 1024
"""The largest file that is read."""

_KINDS: dict[type[OSError], str] = {
    FileNotFoundError: "NotFound",
    NotADirectoryError: "NotFound",
    PermissionError: "PermissionDenied",
    IsADirectoryError: "IsFolder",
}


def perform_local(effect: Local, permissions: Permissions, environment: Mapping[str, str]) -> Value:
    match effect:
        case Clock(kind="wall"):
            return time.time()
        case Clock():
            return time.monotonic()
        case Random(count):
            return os.urandom(count)
        case Env(name):
            return _variables(environment) if name is None else _variable(environment.get(name))
        case ReadFile(path):
            return _on_file(path, permissions, _read)
        case WriteFile(path, text, append):
            return _on_file(path, permissions, lambda folder, name: _write(folder, name, text, append))
        case ListFolder(path):
            return _on_file(path, permissions, _list)
        case RemoveFile(path):
            return _on_file(path, permissions, lambda folder, name: os.unlink(name, dir_fd=folder))
        case FileSize(path):
            try:
                return _on_file(path, permissions, _size)
            except Raised as raised:
                if raised.value.kind == "NotFound":
                    return None
                raise
        case _:
            assert_never(effect)


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {well_formed(name): well_formed(text) for name, text in environment.items()}


def _variable(text: str | None) -> str | None:
    return None if text is None else well_formed(text)


def _on_file(path: str, permissions: Permissions, do: Callable[[int, str], T]) -> T:
    """Do something with a name in its folder; trouble becomes an FsError."""
    try:
        place = permissions.place(path)
        if place is None:
            raise PermissionError(f"outside of the permitted folders: {path}")
        with _folder_of(*place) as (folder, name):
            return do(folder, name)
    except UnicodeDecodeError:
        raise _fs_failure(path, "it is not UTF-8 text", "NotText") from None
    except ValueError as error:
        raise _fs_failure(path, str(error), "IoError") from None
    except OSError as error:
        kind = next((kind for cls, kind in _KINDS.items() if isinstance(error, cls)), "IoError")
        raise _fs_failure(path, (error.strerror or str(error)).lower(), kind) from None


@contextmanager
def _folder_of(root: Path, way: Path) -> Iterator[tuple[int, str]]:
    """An open folder and the last name of a path in it, reached from `root` without following links."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in way.parts[:-1]:
            inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder, way.name or "."
    finally:
        os.close(folder)


def _read(folder: int, name: str) -> str:
    # Not blocking: a pipe without a writer must not hold the run.
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        _require_plain(descriptor)
        if os.fstat(descriptor).st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES // (1024 * 1024)} MB")
        return file.read().decode("utf-8")


def _write(folder: int, name: str, text: str, append: bool) -> None:
    mode = os.O_APPEND if append else os.O_TRUNC
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | mode
    descriptor = os.open(name, flags, 0o666, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        _require_plain(descriptor)
        file.write(text.encode("utf-8", "surrogatepass"))


def _require_plain(descriptor: int) -> None:
    """A device or a pipe may give without end, or do more than to keep what is written."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ValueError("it is no plain file")


def _list(folder: int, name: str) -> list[str]:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return sorted([well_formed(entry.name) for entry in os.scandir(descriptor)])
    finally:
        os.close(descriptor)


def _size(folder: int, name: str) -> int:
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return -1 if stat.S_ISDIR(found.st_mode) else found.st_size


def _fs_failure(path: str, why: str, kind: str) -> Raised:
    return Raised(ErrorValue("FsError", f"`{path}`: {why}", kind, path=path))

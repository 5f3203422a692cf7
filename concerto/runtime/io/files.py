"""Performs the effects that need nobody else: clock, random bytes, environment, files.

A file is opened step by step from its permitted folder without following links, so that nothing swapped in
after the permission was given leads out of it.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar, assert_never

from concerto.effects.error_kinds import FsKind
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

_TO_WRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_NO_NEW_FILES = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY})
"""What a folder says in which a file may be written, but none made beside it or put in its place."""

_KINDS: dict[type[OSError], FsKind] = {
    FileNotFoundError: FsKind.NOT_FOUND,
    NotADirectoryError: FsKind.NOT_FOUND,
    PermissionError: FsKind.PERMISSION_DENIED,
    IsADirectoryError: FsKind.IS_FOLDER,
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
        case ReadFile(path, binary):
            return _on_file(path, permissions, partial(_read, binary=binary))
        case WriteFile(path, text, append):
            write = partial(_write, text=text, append=append)
            return _on_file(path, permissions, write, writing=True)
        case ListFolder(path):
            return _on_file(path, permissions, _list)
        case RemoveFile(path):
            return _on_file(path, permissions, _remove, writing=True)
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


def _on_file(path: str, permissions: Permissions, do: Callable[[int, str], T], *, writing: bool = False) -> T:
    """Do something with a name in its folder; trouble becomes an FsError."""
    try:
        place = permissions.place(path, writing=writing)
        if place is None:
            raise PermissionError(f"outside of the permitted folders: {path}")
        with _folder_of(*place) as (folder, name):
            return do(folder, name)
    except UnicodeDecodeError:
        raise _fs_failure(path, "it is not UTF-8 text", FsKind.NOT_TEXT) from None
    except ValueError as error:
        raise _fs_failure(path, str(error), FsKind.IO_ERROR) from None
    except OSError as error:
        kind = next((kind for cls, kind in _KINDS.items() if isinstance(error, cls)), FsKind.IO_ERROR)
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


def _read(folder: int, name: str, binary: bool) -> str:
    # Not blocking: a pipe without a writer must not hold the run.
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        _require_plain(descriptor)
        if os.fstat(descriptor).st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES // (1024 * 1024)} MB")
        content = file.read()
    return b64encode(content).decode() if binary else content.decode("utf-8")


def _write(folder: int, name: str, text: str, append: bool) -> None:
    data = text.encode("utf-8", "surrogatepass")
    if append:
        _write_in_place(folder, name, data, os.O_APPEND | os.O_CREAT)
        return
    try:
        kept = _status_of_writable(folder, name)
    except FileNotFoundError:
        kept = None
    try:
        _replace(folder, name, data, kept)
    except OSError as error:
        if kept is None or error.errno not in _NO_NEW_FILES:
            raise
        _require_one_name(kept)
        _write_in_place(folder, name, data, os.O_TRUNC)


def _write_in_place(folder: int, name: str, data: bytes, how: int) -> None:
    descriptor = os.open(name, _TO_WRITE | how, 0o666, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        _require_plain(descriptor)
        _require_one_name(os.fstat(descriptor))
        file.write(data)


def _status_of_writable(folder: int, name: str) -> os.stat_result:
    """Of a file that is there and may be written."""
    descriptor = os.open(name, _TO_WRITE, dir_fd=folder)
    try:
        _require_plain(descriptor)
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _replace(folder: int, name: str, data: bytes, kept: os.stat_result | None) -> None:
    """The file afterwards holds all of `data`, or is as it was: the text is written beside it and takes its
    place, with its mode and, where that is allowed, its owner."""
    temporary = f".concerto-{os.urandom(8).hex()}"
    descriptor = os.open(temporary, _TO_WRITE | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if kept is not None:
                made = os.fstat(descriptor)
                if (made.st_uid, made.st_gid) != (kept.st_uid, kept.st_gid):
                    with suppress(PermissionError):
                        os.fchown(descriptor, kept.st_uid, kept.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(kept.st_mode))
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def _remove(folder: int, name: str) -> None:
    os.unlink(name, dir_fd=folder)


def _require_one_name(status: os.stat_result) -> None:
    if status.st_nlink > 1:
        raise PermissionError("it has another name, which may be protected")


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


def _fs_failure(path: str, why: str, kind: FsKind) -> Raised:
    return Raised(ErrorValue("FsError", f"`{path}`: {why}", kind.value, path=path))

"""`std::fs`: files of the allowed folders. Which these are is the gate's business."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.kinds import AnyEffect, FileSize, ListFolder, ReadFile, RemoveFile, WriteFile
from concerto.natives.errors import make_error
from concerto.vm.native import native
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::fs::read_file", machine=True)
def read_file(machine: Machine, path: str) -> Value:
    return tried(machine, ReadFile(path))


@native("std::fs::write_file", machine=True)
def write_file(machine: Machine, path: str, text: str) -> Value:
    return tried(machine, WriteFile(path, text))


@native("std::fs::append_file", machine=True)
def append_file(machine: Machine, path: str, text: str) -> Value:
    return tried(machine, WriteFile(path, text, append=True))


@native("std::fs::exists", machine=True)
def exists(machine: Machine, path: str) -> bool:
    """What may not be looked at does not exist for the program."""
    found = tried(machine, FileSize(path))
    return type(found) is Ok and found.value is not None


@native("std::fs::list_dir", machine=True)
def list_dir(machine: Machine, path: str) -> Value:
    return tried(machine, ListFolder(path))


@native("std::fs::remove_file", machine=True)
def remove_file(machine: Machine, path: str) -> Value:
    return tried(machine, RemoveFile(path))


@native("std::fs::file_size", machine=True)
def file_size(machine: Machine, path: str) -> Value:
    found = tried(machine, FileSize(path))
    if type(found) is Ok and found.value is None:
        return Err(make_error("FsError", f"there is no file `{path}`", "NotFound", path=path))
    if type(found) is Ok and found.value < 0:
        return Err(make_error("FsError", f"`{path}` is a folder", "IsFolder", path=path))
    return found


def tried(machine: Machine, effect: AnyEffect) -> Value:
    """The effect's value as Ok, an FsError as Err; other errors go on."""
    try:
        return Ok(machine.host.perform(effect))
    except Raised as raised:
        error = raised.value
        if isinstance(error, ErrorValue) and error.type_name == "FsError":
            return Err(error)
        raise

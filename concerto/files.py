"""Writing files whole, output that cannot be written, and the folder for what must not be forgotten."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

_CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})


def is_of_output(error: OSError) -> bool:
    """Whether a stream that was open could not be written: its reader has left, or the disk is full."""
    if isinstance(error, BrokenPipeError):
        return True
    return error.errno in _CANNOT_WRITE and error.filename is None


RECORDING_SUFFIX = ".conc-run"
"""Of a run in one portable file."""

PRIVATE = 0o600


def write_atomically(path: Path, data: bytes, mode: int = 0o666) -> None:
    """`path` afterwards holds all of `data`, or is as it was and `OSError` is raised. Who may read and write
    it is said by `mode`, less what the user's mask takes away."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def state_folder() -> Path:
    """Where what must not be forgotten is kept: `CONCERTO_STATE`, or the user's folder for state."""
    place = os.environ.get("CONCERTO_STATE")
    if place:
        return Path(place)
    if sys.platform.startswith(("linux", "freebsd")):
        base = os.environ.get("XDG_STATE_HOME", "")
        return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "concerto"
    from platformdirs import user_state_path

    return user_state_path("concerto", appauthor=False)

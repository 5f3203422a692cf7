"""Writing files whole, output that cannot be written, and the folder for what must not be forgotten."""

from __future__ import annotations

import errno
import os
import stat
import sys

from concerto.annotating import TYPE_CHECKING

if TYPE_CHECKING:
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


def plain_path(path: str | Path) -> str:
    """As `str(Path(path))`. Most paths are plain already: for them a start need not load pathlib."""
    text = os.fspath(path)
    if os.sep == "/" and (text == "." or not {"", "."}.intersection(text.removeprefix("/").split("/"))):
        return text
    from pathlib import Path

    return str(Path(text))


def absolute_path(path: str | Path) -> str:
    """As `str(Path(path).absolute())`."""
    text = plain_path(path)
    if os.path.isabs(text):
        return text
    return os.getcwd() if text == "." else os.path.join(os.getcwd(), text)


def write_atomically(path: str | Path, data: bytes, mode: int = 0o666) -> None:
    """`path` afterwards holds all of `data`, or is as it was and `OSError` is raised. Who may read and write
    it is said by `mode`, less what the user's mask takes away; for a file that anybody may read, by the file
    that stands there. A link of this user stays one, and a device or a pipe is written to."""
    before = _stat_of(path)
    if before is not None and not stat.S_ISREG(before.st_mode) and not stat.S_ISDIR(before.st_mode):
        with open(path, "wb") as device:
            device.write(data)
        return
    if os.path.islink(path) and (not hasattr(os, "geteuid") or os.lstat(path).st_uid == os.geteuid()):
        path = os.path.realpath(path)
    # Threads may write at once, and a process that was killed may have had this one's number.
    temporary = os.path.join(os.path.dirname(path), f".{os.urandom(8).hex()}.new")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            if before is not None and mode != PRIVATE:
                os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def check_writable(path: str | Path) -> None:
    """Raise the OSError with which `write_atomically` would fail as things stand."""
    before = _stat_of(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        wrong = errno.EISDIR if stat.S_ISDIR(before.st_mode) else 0
    else:
        folder = os.path.dirname(os.path.realpath(path))
        wrong = errno.EACCES if os.path.isdir(folder) else errno.ENOENT
        wrong = 0 if os.access(folder, os.W_OK | os.X_OK) else wrong
    if wrong:
        raise OSError(wrong, os.strerror(wrong), os.fspath(path))


def _stat_of(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def state_folder() -> str:
    """Where what must not be forgotten is kept: `CONCERTO_STATE`, or the user's folder for state."""
    place = os.environ.get("CONCERTO_STATE")
    if place:
        return plain_path(place)
    if sys.platform.startswith(("linux", "freebsd")):
        return _of_user("XDG_STATE_HOME", ".local/state")
    from platformdirs import user_state_dir

    return user_state_dir("concerto", appauthor=False)


def cache_home() -> str:
    """Where programs of this user keep what may be forgotten; it need not exist."""
    if sys.platform.startswith(("linux", "freebsd")):
        return _of_user("XDG_CACHE_HOME", ".cache")
    from platformdirs import user_cache_dir

    return user_cache_dir("concerto", appauthor=False)


def _of_user(variable: str, usual: str) -> str:
    """What platformdirs says, without the cost of its import at every start; RuntimeError if there is no
    home."""
    base = os.environ.get(variable, "")
    if not base.startswith("/"):
        home = os.path.expanduser("~")
        if home.startswith("~"):
            raise RuntimeError("there is no home folder")
        base = os.path.join(home, usual)
    return plain_path(os.path.join(base, "concerto"))

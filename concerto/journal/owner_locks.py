"""Liveness of owners across containers: each holds a lock on a byte of a file beside the store, which the
kernel lets go when its process ends, however that is."""

from __future__ import annotations

import fcntl
import os
import struct
from hashlib import sha256
from pathlib import Path

from concerto.files import PRIVATE

_SET, _SET_AND_WAIT = getattr(fcntl, "F_OFD_SETLK", None), getattr(fcntl, "F_OFD_SETLKW", None)
"""Locks that belong to an open file and not to its process; where there are none, nobody can tell."""


class OwnerLocks:
    """The locks beside a store; those that are held are so until `close`. Raises OSError."""

    def __init__(self, store: Path) -> None:
        self._descriptor = os.open(f"{store}-owners", os.O_RDWR | os.O_CREAT, PRIVATE)

    def hold(self, owner: str) -> None:
        if _SET_AND_WAIT is not None:
            fcntl.fcntl(self._descriptor, _SET_AND_WAIT, _lock(fcntl.F_RDLCK, owner))

    def is_held(self, owner: str) -> bool:
        if _SET is None:
            return True
        try:
            fcntl.fcntl(self._descriptor, _SET, _lock(fcntl.F_WRLCK, owner))
        except (BlockingIOError, PermissionError):
            return True
        fcntl.fcntl(self._descriptor, _SET, _lock(fcntl.F_UNLCK, owner))
        return False

    def close(self) -> None:
        os.close(self._descriptor)


def _lock(kind: int, owner: str) -> bytes:
    """A `struct flock` for the byte of an owner."""
    place = int.from_bytes(sha256(owner.encode()).digest()[:6])
    return struct.pack("hhqqi0q", kind, os.SEEK_SET, place, 1, 0)

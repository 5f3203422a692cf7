"""The cache: a private folder of what can be made again. The parser's tables, trees of the library,
manifests, programs and the parts of programs are its entries.

An entry belongs to a name, and to a *maker*: all that its content depends on, code and data. It is stale, and
not read, if another maker wrote it.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib

from concerto.annotating import Any
from concerto.files import PRIVATE, cache_home, plain_path, state_folder, write_atomically

_MOST_ENTRIES = 400


def read_entry(name: str, maker: bytes) -> Any:
    """What the same maker stored under a name by `write_entry`, whole, or None."""
    stored = read_cached(name) or b""
    payload = memoryview(stored)[4:]
    if payload[: len(maker)] != maker or zlib.crc32(payload).to_bytes(4, "big") != stored[:4]:
        return None
    return marshal.loads(payload[len(maker) :])


def write_entry(name: str, maker: bytes, entry: Any) -> None:
    """Keeps what `marshal` can hold, as `write_cached`; `maker` names the code and data that it came from."""
    payload = maker + marshal.dumps(entry)
    write_cached(name, zlib.crc32(payload).to_bytes(4, "big") + payload)


def entry_name(key: bytes, kind: str) -> str:
    """The name of a cache entry. Others may have the same: the entry itself has to say whose it is."""
    return f"{zlib.crc32(key):08x}{zlib.adler32(key):08x}.{kind}"


def read_cached(name: str) -> bytes | None:
    """The cache entry of a name, if there is one that nobody but this user could have written."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read() if _is_private(os.fstat(file.fileno())) else None
    except OSError:
        return None


def write_cached(name: str, data: bytes) -> None:
    """Keeps an entry, if that is possible; a cache that cannot be written is no error."""
    folder = cache_folder(create=True)
    if folder is None:
        return
    try:
        write_atomically(os.path.join(folder, name), data, PRIVATE)
        _forget_oldest(folder)
    except OSError:
        return


def cache_folder(*, create: bool = False) -> str | None:
    """The private cache folder; None if there is none or others may write to it.

    `CONCERTO_CACHE` names another one; empty, it switches the cache off.
    """
    place = os.environ.get("CONCERTO_CACHE")
    if place == "":
        return None
    try:
        folder = plain_path(place) if place else cache_home()
        if create:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        return folder if _is_private(os.stat(folder)) else None
    except (OSError, RuntimeError):
        return None


def private_folders() -> list[str]:
    """The folders of runs that wait and of the cache, which programs may not touch."""
    try:
        return [state_folder(), os.environ.get("CONCERTO_CACHE") or cache_home()]
    except RuntimeError:  # There is no home.
        return []


def _is_private(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _forget_oldest(folder: str) -> None:
    """Halves a folder that has grown too large."""
    from pathlib import Path  # Reading needs none.

    with os.scandir(folder) as found:
        entries = [entry for entry in found if entry.is_file(follow_symlinks=False)]
    if len(entries) <= _MOST_ENTRIES:
        return
    entries.sort(key=lambda entry: entry.stat().st_mtime)
    for entry in entries[: len(entries) // 2]:
        Path(entry).unlink(missing_ok=True)

"""Finds the files that come with the package: `grammar/…` and `stdlib/…`, and tells which code this is.

An installed wheel holds them under `_data` in the package; in a checkout they stand beside the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from concerto.version import __version__

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """The place of a file or folder such as `grammar/concerto.lark`; it need not exist."""
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.exists() else _PACKAGE.parent / name


def state_of(folders: Iterable[Path]) -> bytes:
    """Names the code that made something which is kept: this package's version, its Python, and the latest
    change in the folders where somebody works on them."""
    in_checkout = not (_PACKAGE / "_data").exists()
    newest = max(map(_newest, folders)) if in_checkout else 0
    return f"{__version__} {sys.version} {newest}\0".encode()


def code_folder(name: str) -> Path:
    """A folder of this package's code."""
    return _PACKAGE / name


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

"""Finds the files that come with the package: `grammar/…` and `stdlib/…`, and tells which code this is.

An installed wheel holds them under `_data` in the package; in a checkout they stand beside the package.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from concerto.annotating import TYPE_CHECKING
from concerto.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

_PACKAGE = os.path.dirname(os.path.realpath(__file__))
_DATA = os.path.join(_PACKAGE, "_data")


def resource(name: str) -> Path:
    """The place of a file or folder such as `grammar/concerto.lark`; it need not exist."""
    from pathlib import Path  # A cached program reads no resource.

    return Path(_resource(name))


def code_folder(name: str) -> Path:
    """A folder of this package's code."""
    from pathlib import Path

    return Path(_PACKAGE, name)


def state_of(code: Iterable[str], data: Iterable[str] = ()) -> bytes:
    """Names what made something which is kept: this package's version, its Python, and where somebody works
    on them the latest change in folders of its code and in resources."""
    newest = 0
    if not os.path.exists(_DATA):
        folders = [*[os.path.join(_PACKAGE, name) for name in code], *map(_resource, data)]
        newest = max(map(_newest, folders))
    return f"{__version__} {sys.version} {newest}\0".encode()


def _resource(name: str) -> str:
    packaged = os.path.join(_DATA, name)
    return packaged if os.path.exists(packaged) else os.path.join(os.path.dirname(_PACKAGE), name)


def _newest(folder: str) -> int:
    newest = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    newest = max(newest, _newest(entry.path) if entry.name != "__pycache__" else 0)
                else:
                    newest = max(newest, entry.stat().st_mtime_ns)
    except OSError:
        return 0
    return newest

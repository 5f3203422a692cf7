"""Finds the files that come with the package: `grammar/…` and `stdlib/…`.

An installed wheel holds them under `concerto/_data`; in a checkout they stand beside the package.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """The place of a file or folder such as `grammar/concerto.lark`; it need not exist."""
    packaged = _PACKAGE / "_data" / name
    return packaged if packaged.exists() else _PACKAGE.parent / name


def in_checkout() -> bool:
    """Whether the package's own files may change from one start to the next."""
    return not (_PACKAGE / "_data").exists()

"""Files in permitted folders that a run may not use all the same: what the next run would obey, and secrets.

They are protected by their names below a permitted folder, so that one which is named itself in `files` is
not. Names are compared as the most lenient file system would: whatever their case, their form in Unicode,
invisible characters, and dots and spaces at their end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_SECRET = r"\.env.*|\.git|git~\d+"
"""Neither read nor written."""
_OBEYED = r"concerto\.toml|concerto\.lock|.*\.conc|.*\.conc-ir"
"""Read, but not written."""


_LANGUAGES = (
    frozenset({".py", ".pyc", ".pyd", ".pyw", ".so"}),
    frozenset({".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".node"}),
    frozenset({".rb"}), frozenset({".pl", ".pm"}), frozenset({".php"}), frozenset({".lua"}),
    frozenset({".sh", ".bash"}), frozenset({".ps1", ".psm1"}),
)  # fmt: skip
"""The suffixes of files that import one another."""


def may_be_imported(file: Path, started: Path) -> bool:
    """Whether what is started may import a file, which is of its language, in its folder or below."""
    mine, other = started.suffix.casefold(), file.suffix.casefold()
    return file.is_relative_to(started.parent) and any({mine, other} <= each for each in _LANGUAGES)


def is_protected(way: Sequence[str], *, writing: bool) -> bool:
    """Whether a path below a permitted folder leads to a protected file, or into a protected folder."""
    return any(_fits(name, writing) for name in way)


def _fits(name: str, writing: bool) -> bool:
    plain = _plain(name)
    return bool(re.fullmatch(_SECRET, plain) or (writing and re.fullmatch(_OBEYED, plain)))


def _plain(name: str) -> str:
    if not name.isascii():
        import unicodedata

        name = unicodedata.normalize("NFKC", name)
        name = "".join([each for each in name if unicodedata.category(each) not in ("Cf", "Mn")])
    # What follows a colon names a stream of the same file.
    return name.partition(":")[0].rstrip(". ").casefold()

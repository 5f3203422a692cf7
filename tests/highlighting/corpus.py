"""All programs of the repository, right and wrong."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    path for folder in ("examples", "stdlib", "tests/programs") for path in (ROOT / folder).rglob("*.conc")
)

_LEXICAL_OR_SYNTAX = re.compile(r"error\[E0[01]\d\d\]")


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")


def is_right(text: str) -> bool:
    """Whether the text is a program as far as its tokens go."""
    return not _LEXICAL_OR_SYNTAX.search(text)

"""The programs of `tests/programs` that the oracle does not take, each with what it needs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

PROGRAMS: Final = Path(__file__).parents[1] / "programs"
LEFT_OUT: Final[dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

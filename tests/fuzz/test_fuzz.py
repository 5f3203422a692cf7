"""Some cases of each kind, the same in every run; `python -m tests.properties.campaign --only ir-code` and so
on tries as many as one likes."""

from __future__ import annotations

from random import Random

import pytest

from concerto.compiler.depth import on_large_stack
from tests.fuzz.checks import CHECKS

CASES = {
    "source-parts": 60, "source-bytes": 60, "ir-bytes": 40, "ir-parts": 120, "ir-code": 200,
    "ir-declarations": 40, "replies": 300, "loops": 60, "mcp-interfaces": 60, "mcp-results": 300,
    "mcp-sessions": 3, "mcp-real": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_hostile_input(name: str) -> None:
    on_large_stack(lambda: [CHECKS[name](Random(f"test:{name}:{case}")) for case in range(CASES[name])])

"""Some of the faults of `tests.faults.mcp_sweep`: none ends in a wrong answer or leaves anything running."""

from __future__ import annotations

import asyncio

import pytest

from tests.faults.mcp_sweep import TRANSPORTS, talk_all
from tests.faults.mcp_talking import talk, ways
from tests.faults.spoiling import FAULTS, Fault
from tests.faults.sweep import Counts


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_fault_ends_in_a_wrong_answer(transport: str, capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counts()
    with ways(transport, 6) as there:
        assert asyncio.run(talk(there[0], None)).verdict == "right"
        length = there[0].passed[False]
        chosen = [Fault(kind, length * place // len(FAULTS)) for place, kind in enumerate(FAULTS)]
        talk_all(there, iter(chosen), counts)
    assert counts.wrong == 0, capsys.readouterr().out
    assert sum(counts.of.values()) == len(FAULTS)

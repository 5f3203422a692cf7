"""Some hundred cases of each property, the same in every run; `campaign.py` tries as many as one likes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concerto.compiler.depth import on_large_stack
from tests.properties.checks import CHECKS
from tests.properties.programs import make_program
from tests.properties.running import outcomes

CASES = {"runs": 50, "prints": 120, "mutants": 200, "bytes": 300}


@pytest.mark.parametrize("name", CHECKS)
def test_property(name: str) -> None:
    @settings(
        max_examples=CASES[name],
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**32))
    def holds(seed: int) -> None:
        CHECKS[name](Random(seed))

    on_large_stack(holds)


def test_programs_do_something() -> None:
    """The random programs are worth running: most go to their end and print a good deal."""
    results = [outcomes(make_program(Random(seed)))["python"] for seed in range(20)]
    assert sum(not result.stderr for result in results) >= 15
    assert sum(len(result.stdout.splitlines()) >= 5 for result in results) >= 12

"""Some hundred cases of each property, the same in every run; `campaign.py` tries as many as one likes."""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concerto.compiler.depth import on_large_stack
from concerto.emit import emit_program
from tests.properties.checks import CHECKS
from tests.properties.coverage import EXPRESSIONS, GROUPS, PATTERNS, count_pairs, why_never
from tests.properties.generating import make_program
from tests.properties.running import Refused, analyzed, outcomes
from tests.vm.tracing import traced_otherwise

CASES = {"runs": 60, "prints": 60, "mutants": 200, "bytes": 300, "damage": 60}


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
    """The random programs are worth running: most print something."""
    results = []
    for seed in range(30):
        with suppress(Refused):
            files = make_program(Random(seed))
            results.append(outcomes(files)["python"])
            assert not traced_otherwise(emit_program(analyzed(files)))
    assert len(results) >= 25
    assert sum(bool(result.stdout) for result in results) >= 20


RICH = (
    12, 297, 230, 161, 211, 35, 574, 439, 13, 15, 133, 190, 444, 36, 272, 333, 548, 557, 44, 55, 75, 95, 121,
    221, 225, 442, 505, 254, 48, 569, 142, 252, 99, 446, 10, 69, 96, 168, 243, 283,
)  # fmt: skip
"""Seeds of programs that have everything together, found by taking the one with most that is missing."""


def test_every_construct_stands_in_every_kind_of_place() -> None:
    places: dict[str, set[str]] = {}
    missing = ["everything"]
    for seeds in (RICH, *(range(first, first + 50) for first in range(0, 1000, 50))):
        for construct, place in count_pairs(seeds, size=1):
            places.setdefault(construct, set()).add(place)
        missing = _missing(places)
        if not missing:
            break
    assert not missing


def _missing(places: dict[str, set[str]]) -> list[str]:
    """What was not drawn in a group of places, and what was drawn nowhere."""
    pairs = [
        f"{construct} in the place of {group}"
        for construct in EXPRESSIONS
        for group, fields in GROUPS.items()
        if not all(why_never(construct, field) for field in fields)
        and not places.get(construct, set()).intersection(fields)
    ]
    return pairs + [pattern for pattern in PATTERNS if pattern not in places]

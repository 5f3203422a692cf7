"""Random programs do the same on both tiers: value or error, and everything in the same order."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concerto.diagnostics import Problems
from concerto.ir.module import ModuleIR
from concerto.ir.verifier import verify
from concerto.vm.host import Host
from concerto.vm.machine import Machine, Tier
from concerto.vm.operations import to_text
from tests.vm.hosts import TIERS, Recorder, outcome
from tests.vm.random_programs import ProgramMaker


def observed(module: ModuleIR, tier: Tier, arguments: list[int]) -> tuple[object, ...]:
    """What a run gives and what it told on the way."""
    host = Recorder()
    machine = Machine(module, cast(Host, host), tier=tier)
    kind, value, detail = outcome(machine, len(module.functions) - 1, list(arguments))
    return kind, to_text(value), detail, host.asked


def check(random: Random) -> None:
    module = ProgramMaker(random).make()
    problems = Problems()
    assert verify(module, problems), [problem.message for problem in problems]
    for arguments in ([0, 1], [7, -3], [2**62, -(2**63)]):
        results = [observed(module, tier, arguments) for tier in TIERS]
        assert results[0] == results[1]


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_both_tiers_agree(random: Random) -> None:
    check(random)


@pytest.mark.parametrize("seed", range(150))
def test_both_tiers_agree_on_seed(seed: int) -> None:
    check(Random(seed))

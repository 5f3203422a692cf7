"""Fifty attacks in five worlds: none gets through but the one that records the limit, and what the user
wants is still done."""

from __future__ import annotations

import pytest

from tests.runtime.servers import Script
from tests.trust.worlds import Attack, World, attacked, cases, is_harm

CASES = cases()
NAMES = [f"{world.name}, {attack.name}" for world, attack in CASES]


@pytest.mark.parametrize(("world", "attack"), CASES, ids=NAMES)
def test_an_attack_does_nothing(model: Script, world: World, attack: Attack) -> None:
    happened = attacked(world, attack, model, poisoned=True)
    assert is_harm(world, attack, happened) is attack.limit, happened


@pytest.mark.parametrize(("world", "attack"), CASES, ids=NAMES)
def test_its_twin_is_done(model: Script, world: World, attack: Attack) -> None:
    happened = attacked(world, attack, model, poisoned=False)
    assert happened.ok and happened.acts, happened
    assert not is_harm(world, attack, happened)


@pytest.mark.parametrize(("world", "attack"), CASES, ids=NAMES)
def test_it_is_an_attack(model: Script, world: World, attack: Attack) -> None:
    """Without `[trust]` the model does what the attacker says."""
    happened = attacked(world, attack, model, poisoned=True, mode="off")
    assert is_harm(world, attack, happened), happened


def test_there_are_fifty() -> None:
    assert len(set(NAMES)) == 50
    assert [attack.limit for _, attack in CASES].count(True) == 1

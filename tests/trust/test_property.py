"""Programs whose untrusted texts differ call the same sinks, with equal values where these are looked at."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.runtime.servers import Script
from tests.trust.worlds import WORLDS, Attack, World, act, act_on_all, attacked, good

VALUES = st.text(st.sampled_from("ab@.,; <>x-/"), max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(WORLDS), st.lists(VALUES, max_size=3), st.lists(VALUES, max_size=3))
def test_sinks_do_not_depend_on_untrusted_texts(
    model: Script, world: World, alone: list[str], together: list[str]
) -> None:
    def orders(world: World) -> list[Any]:
        return [*(act(world, value) for value in alone), act_on_all(world, *together)]

    attack = Attack("any", orders)
    told = attacked(world, attack, model, poisoned=True)
    not_told = attacked(world, Attack("none", good), model, poisoned=False)
    # An empty list acts on nothing.
    assert [done for done in told.acts if done] == not_told.acts

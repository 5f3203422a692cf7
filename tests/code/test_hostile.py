"""Programs that want out or never end: 60 here, any number by `python -m tests.code.hostile`."""

from __future__ import annotations

from tests.code.hostile import SEEDS, attack


def test_nothing_gets_out_and_everything_ends() -> None:
    watch, kinds = attack(60, seed=7)
    assert watch.effects["run_program::"] == 60 and not watch.outside
    assert min(kinds["value"], kinds["error"], kinds["diagnostics"]) > 10
    assert len(SEEDS) > 60

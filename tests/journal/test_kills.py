"""Processes killed at any moment: nothing that is recorded is asked again, nothing is done twice."""

from __future__ import annotations

import random
from pathlib import Path

from tests.journal.killing import KilledRun, world

KILLS = 8


def test_a_run_that_is_killed_again_and_again_does_everything_once(tmp_path: Path, url: str) -> None:
    with world() as made:
        run = KilledRun(tmp_path / "p", made, url)
        run.go_on_to_the_end(random.Random(5), KILLS)
        run.check_the_end()

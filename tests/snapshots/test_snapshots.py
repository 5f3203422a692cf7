"""The texts are as they were when somebody last read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.snapshots.texts import HERE, snapshots

SNAPSHOTS = snapshots()


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_snapshots(path: Path) -> None:
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    assert SNAPSHOTS[path]() == kept, "see the difference with `python -m tests.snapshots` and `git diff`"


def test_every_snapshot_belongs_to_something() -> None:
    assert not set(HERE.rglob("*.txt")) - SNAPSHOTS.keys()

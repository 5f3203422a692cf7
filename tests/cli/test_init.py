"""`concerto init`: what it makes works at once, and it never overwrites."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from concerto.cli.starting import PROVIDERS


def concerto(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "concerto.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_new_project_runs_and_passes_its_test(tmp_path: Path, provider: str) -> None:
    made = concerto(tmp_path, "init", "shop", "--provider", provider)
    assert made.returncode == 0 and "concerto test shop" in made.stdout
    tested = concerto(tmp_path, "test", "shop")
    assert (tested.returncode, tested.stderr) == (0, "")
    assert tested.stdout.endswith("1 passed\n")
    ran = concerto(tmp_path, "run", "--mock", "--quiet", "shop")
    assert (ran.stdout, ran.stderr) == ("[mock response to: What is 17 + 25?]\n", "")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "shop" / "main.conc"
    kept.parent.mkdir()
    kept.write_text("mine")
    refused = concerto(tmp_path, "init", "shop")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: `shop` is there already; nothing was changed\n",
    )
    assert kept.read_text() == "mine" and list(kept.parent.iterdir()) == [kept]


def test_names_that_are_none(tmp_path: Path) -> None:
    for name in ("1st", "a b", "ü"):
        refused = concerto(tmp_path, "init", name)
        assert refused.returncode == 2 and "is no name for a project" in refused.stderr

"""`concerto init`: what it makes works at once, and it never overwrites."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from concerto.vocabulary.providers import DEFAULT_CONNECTIONS
from tests.harness.commands import run


def concerto(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run("concerto", *arguments, cwd=folder)


@pytest.mark.parametrize("provider", DEFAULT_CONNECTIONS)
def test_a_new_project_runs_and_passes_its_test(tmp_path: Path, provider: str) -> None:
    made = concerto(tmp_path, "init", "shop", "--provider", provider)
    assert made.returncode == 0 and "concerto test shop" in made.stdout
    tested = concerto(tmp_path, "test", "shop")
    assert (tested.returncode, tested.stderr) == (0, "")
    assert tested.stdout.endswith("1 passed\n")
    ran = concerto(tmp_path, "run", "--mock", "--quiet", "shop")
    assert (ran.stdout, ran.stderr) == ("[mock response to: What is 17 + 25?]\n", "")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "shop" / "src" / "main.conc"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    refused = concerto(tmp_path, "init", "shop")
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: `shop/src/main.conc` is there already; nothing was changed\n",
    )
    assert kept.read_text() == "mine" and not (tmp_path / "shop" / "Concerto.toml").exists()


def test_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / ".gitignore").write_text("mine")
    assert concerto(tmp_path, "init", ".").returncode == 0
    assert (tmp_path / ".gitignore").read_text() == (tmp_path / "README.md").read_text() == "mine"
    assert concerto(tmp_path, "test").stdout.endswith("1 passed\n")
    again = concerto(tmp_path, "init", ".")
    assert again.stderr == "error: `Concerto.toml` is there already; nothing was changed\n"


@pytest.mark.parametrize("name", ["my shop", "b\u00fccher", "a.b", "1st", 'q"uote', "deep/er", "back\\slash"])
def test_names_of_folders(tmp_path: Path, name: str) -> None:
    made = concerto(tmp_path, "init", name, "--provider", "mock")
    assert made.returncode == 0, made.stderr
    step = made.stdout.splitlines()[1].split(maxsplit=2)[2]
    assert concerto(tmp_path, "test", *shlex.split(step)).stdout.endswith("1 passed\n")


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("file", "file/shop"):
        refused = concerto(tmp_path, "init", name)
        assert refused.returncode == 2 and refused.stderr.startswith("error: cannot write `"), refused.stderr
        assert refused.stderr.count("\n") == 1

"""A manifest that another user has put where the manifest of a program is looked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.hostile.commands import concerto, run_source

pwd = pytest.importorskip("pwd")
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

OTHER = 65_123
"""A user that this system does not know."""
_SOURCE = "fn main() { println(1); }\n@test fn one() { assert(true); }\n"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a program; in the folder above a manifest of another user."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.conc").write_text(_SOURCE)
    given_away(tmp_path / "Concerto.toml")
    return folder


def given_away(manifest: Path, user: int = OTHER) -> None:
    manifest.write_text('[connections.mock]\n[permissions]\nShellTool = true\nfiles = ["/"]\n')
    os.chown(manifest, user, -1)


def refusal(manifest: Path, user: str = f"the user {OTHER}") -> str:
    return (
        f"error[E0505]: `{manifest}` belongs to {user}, so what it says is not obeyed\n"
        f"  ┌─ {manifest}\n"
        "  = help: `chown` it, or put a `Concerto.toml` of your own beside the program\n"
    )


COMMANDS = [
    ("concerto", ["run", "main.conc"]),
    ("concerto", ["run", "."]),
    ("concerto", ["run", "--mock", "main.conc"]),
    ("concerto", ["test", "main.conc"]),
    ("concerto", ["repl"]),
    ("concerto", ["mcp", "lock", "main.conc"]),
    ("concerto", ["mcp", "serve", "main.conc"]),
    ("concertoc", ["check", "main.conc"]),
    ("concertoc", ["check", "."]),
    ("concertoc", ["build", "main.conc"]),
    ("concertoc", ["build", "."]),
    ("concertoc", ["dis", "main.conc"]),
]


@pytest.mark.parametrize(("name", "arguments"), COMMANDS, ids=lambda given: " ".join(given))
def test_another_user_s_manifest_above_the_program_is_refused(
    program: Path, name: str, arguments: list[str]
) -> None:
    done = concerto(program, *arguments, name=name)
    told = refusal(program.parent / "Concerto.toml")
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", told.strip())


@pytest.mark.parametrize(
    ("name", "arguments"), [("concerto", ["run", "."]), ("concertoc", ["build", "."])], ids=str
)
def test_so_is_one_beside_the_program(program: Path, name: str, arguments: list[str]) -> None:
    """As in `/tmp`, where everybody can put one. Its owner is told by name if the system knows it."""
    nobody = pwd.getpwnam("nobody")
    given_away(program / "Concerto.toml", nobody.pw_uid)
    done = concerto(program, *arguments, name=name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == refusal(Path("Concerto.toml"), "the user `nobody`").strip()


def test_so_is_another_user_s_link_to_a_manifest_of_mine(program: Path) -> None:
    mine = program.parent / "mine"
    mine.write_text('[connections.mock]\n[permissions]\nfiles = ["/"]\n')
    (program.parent / "Concerto.toml").unlink()
    (program.parent / "Concerto.toml").symlink_to(mine)
    os.chown(program.parent / "Concerto.toml", OTHER, -1, follow_symlinks=False)
    done = concerto(program, "run", "main.conc")
    assert (done.returncode, done.stderr.strip()) == (2, refusal(program.parent / "Concerto.toml").strip())


def test_a_nearer_one_of_mine_is_obeyed(program: Path) -> None:
    (program / "Concerto.toml").write_text("[runtime]\nmax_iterations = 3\n")
    done = concerto(program, "run", "main.conc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_another_user_s_folder_that_i_name_has_its_own(program: Path) -> None:
    """Who owns the folder could put the manifest there as well, beside a program that is his anyway."""
    os.chown(program, OTHER, -1)
    done = concerto(program, "run", "main.conc")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_a_resumed_run_looks_again(tmp_path: Path) -> None:
    source = """
        tool Person { description: "p", @describe("ask") pub fn ask() -> Int; }
        fn main() { println(Person.ask()); }
    """
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "p"\n')
    asked = run_source(tmp_path, source, "--json")
    [call], run = (last := json.loads(asked.stdout.splitlines()[-1]))["requires_action"], last["run"]
    given_away(tmp_path / "Concerto.toml")
    done = concerto(tmp_path, "resume", run, "--result", f"{call['call_id']}=7")
    assert (done.returncode, done.stderr.strip()) == (2, refusal(tmp_path / "Concerto.toml").strip())
    os.chown(tmp_path / "Concerto.toml", os.geteuid(), -1)
    done = concerto(tmp_path, "resume", run, "--result", f"{call['call_id']}=7")
    assert (done.returncode, done.stderr) == (0, "7\n")  # stdout is for JSON

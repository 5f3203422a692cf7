"""What runs obey and secrets, in folders that a run may use: `std::fs`, `FileTool` and files of hashmaps."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from concerto import Runtime, compile_file, compile_source

_PROGRAM = """
use std::fs;
use std::tools::FileTool;
fn main() -> Result<Array<Bool>, String> {
    let path = PATH;
    Ok([
        fs::read_file(path).is_ok(), FileTool.read(path).is_ok(), fs::exists(path),
        fs::append_file(path, "x").is_ok(), FileTool.write(path, "x").is_ok(),
        fs::write_file(path, "x").is_ok(), fs::remove_file(path).is_ok(),
    ])
}
"""
SECRET = [False] * 7
OBEYED = [True] * 3 + [False] * 4
FREE = [True] * 7


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = (".env", ".env.local", ".git/config", "Concerto.toml", "Concerto.lock", "main.conc", "x.conc-ir",
             "sub/Concerto.toml", "data/free", "free", "host.py", "state/runs/a/state.json",
             "tools/mine.py")  # fmt: skip
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("was there")
    (tmp_path / "link").symlink_to(".env")
    (tmp_path / "data" / "up").symlink_to("..")
    os.link(tmp_path / "Concerto.toml", tmp_path / "hard")
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "state"))
    return tmp_path


def tried(project: Path, path: str, said: str = "") -> list[bool]:
    said = '[hosts.H]\ncommand = "python"\nargs = ["host.py"]\n[tools.T]\nimport = "tools.mine:x"\n' + said
    (project / "Concerto.toml").write_text(said)
    (project / "main.conc").write_text(_PROGRAM.replace("PATH", f'"{path}"'))
    value = Runtime(compile_file(project / "main.conc")).run().value
    assert isinstance(value, list)
    return value


@pytest.mark.parametrize(
    "path",
    [".env", ".ENV", ".env.local", "./sub/../.env", "link", "data/up/.env", ".git/config", "data/up/.GIT/x",
     "state/runs/a/state.json", ".e\u200dnv", ".env.", "\uff0eenv", ".new/../.env", ".git/new"],
)  # fmt: skip
def test_secrets_are_neither_read_nor_written(project: Path, path: str) -> None:
    assert tried(project, path) == SECRET
    assert (project / ".env").read_text() == "was there"


@pytest.mark.parametrize(
    "path",
    ["Concerto.toml", "Concerto.lock", "main.conc", "x.conc-ir", "sub/Concerto.toml", "data/up/main.conc",
     "host.py", "tools/mine.py", "hard"],
)  # fmt: skip
def test_what_the_next_run_obeys_is_read_and_not_written(project: Path, path: str) -> None:
    outcome = tried(project, path)
    # Of a file that has another name, that name gets another file.
    assert outcome == (OBEYED if path != "hard" else [True, True, True, False, True, True, True])
    assert "x" not in (project / "Concerto.lock").read_text()
    assert (project / "Concerto.toml").read_text().startswith("[hosts.H]")


@pytest.mark.parametrize("path", ["new.conc", "sub/CONCERTO.TOML", "new/../other.Conc", ".envrc"])
def test_no_such_file_is_made(project: Path, path: str) -> None:
    assert tried(project, path)[3:] == [False] * 4


def test_files_takes_the_place_of_the_project(project: Path) -> None:
    only = '[permissions]\nfiles = ["data"]\n'
    assert tried(project, "data/free", only) == FREE
    assert tried(project, "free", only) == SECRET
    assert tried(project, "main.conc", only) == SECRET
    assert tried(project, "free", "[permissions]\nfiles = []\n") == SECRET


@pytest.mark.parametrize("path", [".env", "main.conc", ".git/config", "host.py"])
def test_what_is_named_itself_is_used(project: Path, path: str) -> None:
    named = path if path != ".git/config" else ".git"
    assert tried(project, path, f'[permissions]\nfiles = ["data", "{named}"]\n') == FREE
    assert tried(project, "free", f'[permissions]\nfiles = ["data", "{named}"]\n') == SECRET


def test_a_hashmap_is_kept_in_no_protected_file(project: Path) -> None:
    source = """
    fn main() -> Result<Bool, String> {
        let kept: HashMap<String, Int> = HashMap::new().with_persistence("Concerto.lock");
        Ok(kept.len() == 0)
    }
    """
    assert not Runtime(compile_source(source), folder=project, errors=io.StringIO()).run()
    assert (project / "Concerto.lock").read_text() == "was there"


def test_python_gives_the_folders_from_where_the_project_is(project: Path) -> None:
    (project / "main.conc").write_text(_PROGRAM.replace("PATH", '"data/free"'))
    (project / "Concerto.toml").write_text("")
    program = compile_file(project / "main.conc")
    assert Runtime(program, permissions={"files": ["sub"]}).run().value == SECRET
    assert Runtime(program, permissions={"files": ["data"]}).run().value == FREE

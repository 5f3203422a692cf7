"""What runs obey and secrets, in folders that a run may use: `std::fs`, `FileTool` and files of hashmaps."""

from __future__ import annotations

import io
import os
import runpy
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_file, compile_source, open_store
from concerto.runtime.run.options import RunOptions

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


@pytest.mark.parametrize(
    "path",
    ["helper.py", "tools/__init__.py", "tools/deep/helper.PY", "tools/__pycache__/mine.cpython-311.pyc",
     "scripts/near.mjs", "jobs/deep/x.rb"],
)  # fmt: skip
def test_what_is_started_imports_nothing_that_was_written(project: Path, path: str) -> None:
    starts = '[mcp.A]\ncommand = "node"\nargs = ["scripts/server.js"]\n'
    starts += '[hosts.B]\ncommand = "ruby"\nargs = ["work.rb"]\nworking_dir = "jobs"\n'
    assert tried(project, path, starts)[3:] == [False] * 4
    assert not (project / path).exists()


@pytest.mark.parametrize("path", ["page.js", "jobs.rb", "scripts/data.json", "data/helper.py"])
def test_what_nothing_started_imports_is_written(project: Path, path: str) -> None:
    starts = '[mcp.A]\ncommand = "node"\nargs = ["scripts/server.js"]\n'
    starts += '[permissions]\nfiles = ["data"]\n' if path.startswith("data") else ""
    (project / "scripts").mkdir()
    assert tried(project, path, starts)[5:] == [True] * 2


def test_a_module_that_is_started_imports_nothing_that_was_written(project: Path) -> None:
    (project / "main.conc").write_text(_PROGRAM.replace("PATH", '"near.py"'))
    (project / "Concerto.toml").write_text('[mcp.A]\ncommand = "python"\nargs = ["-m", "server"]\n')
    value = Runtime(compile_file(project / "main.conc")).run().value
    assert value == [False] * 7


def test_files_of_given_functions_are_not_written(project: Path) -> None:
    (project / "people.py").write_text("HANDLERS = {'ask': lambda told: told}")
    handlers = runpy.run_path(str(project / "people.py"))["HANDLERS"]
    for path in ("people.py", "near.py"):
        (project / path).touch()
        (project / "main.conc").write_text(_PROGRAM.replace("PATH", f'"{path}"'))
        (project / "Concerto.toml").write_text("")
        assert Runtime(compile_file(project / "main.conc"), handlers=handlers).run().value == OBEYED
        assert Runtime(compile_file(project / "main.conc")).run().value == FREE


@pytest.mark.parametrize("end", ["", "-wal", "-shm", "-owners"])
@pytest.mark.parametrize("way", ["manifest", "address", "path", "open", "sessions", "record"])
def test_the_store_of_runs_is_written_by_nothing_else(project: Path, way: str, end: str) -> None:
    file = project / "data" / "runs.db"
    said = '[runs]\nstore = "sqlite:data/runs.db"\n' if way == "manifest" else ""
    (project / "Concerto.toml").write_text(said)
    (project / "main.conc").write_text(_PROGRAM.replace("PATH", f'"data/runs.db{end}"'))
    with closing(open_store(f"sqlite:{file}")) as store:
        given: dict[str, dict[str, Any]] = {
            "address": {"store": f"sqlite:{file}"}, "path": {"store": file}, "open": {"store": store},
            "sessions": {"sessions": str(file)}, "record": {"record": file.with_name(f"runs.db{end}")},
        }  # fmt: skip
        Path(f"{file}{end}").touch()
        options = RunOptions(**given.get(way, {}))
        value = Runtime(compile_file(project / "main.conc"), options).run().value
    assert isinstance(value, list)
    assert value[2:] == OBEYED[2:]


def test_the_environment_that_runs_it_is_not_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(project / "venv"))
    (project / "venv").mkdir()
    (project / "venv" / "x.pth").touch()
    assert tried(project, "venv/x.pth") == OBEYED
    assert tried(project, "venv/x.pth", '[permissions]\nfiles = ["venv"]\n') == FREE


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

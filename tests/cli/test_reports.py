"""What commands say of problems: formats for tools whatever went wrong, and warnings once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.commands import environment, one_line, run

WARNED = "fn main() {\n    let n = 3;\n    println(1);\n}\n\n@test\nfn fine() {}\n"

WRONG_COMMANDS = {
    "a missing file": ["concertoc", "check", "nope"],
    "a folder without programs": ["concertoc", "check", "empty"],
    "no program": ["concertoc", "check", "notes.txt"],
    "no option": ["concertoc", "check", "--colour", "right"],
    "a broken manifest": ["concertoc", "check", "broken"],
    "a manifest without its entry": ["concertoc", "build", "lost"],
    "a missing file to build": ["concertoc", "build", "nope.conc"],
    "an unknown output": ["concertoc", "build", "right", "--emit", "elf"],
    "output into nowhere": ["concertoc", "build", "right", "-o", "no/such/folder/x"],
    "servers of a missing program": ["concerto", "mcp", "check", "nope"],
    "servers of a broken manifest": ["concerto", "mcp", "check", "broken"],
    "servers of a program with a syntax error": ["concerto", "mcp", "check", "open"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("empty", "broken", "lost", "right", "open"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "broken" / "Concerto.toml").write_text("[projekt]\n")
    (tmp_path / "broken" / "main.conc").write_text("fn main() {}\n")
    (tmp_path / "lost" / "Concerto.toml").write_text('[project]\nentry = "gone.conc"\n')
    (tmp_path / "lost" / "other.conc").write_text("fn main() {}\n")
    (tmp_path / "right" / "main.conc").write_text("fn main() {}\n")
    (tmp_path / "open" / "main.conc").write_text("fn main() {\n")
    return tmp_path


@pytest.mark.parametrize("written", ["--format json", "--format=json"])
@pytest.mark.parametrize("arguments", WRONG_COMMANDS.values(), ids=WRONG_COMMANDS)
def test_json_whatever_went_wrong(folder: Path, arguments: list[str], written: str) -> None:
    done = run(*arguments, *written.split(), cwd=folder)
    (found,) = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 2 and done.stderr == ""
    assert found["severity"] == "error" and found["message"] and found["line"] >= 1


@pytest.mark.parametrize("kind", ["sarif", "github"])
def test_other_formats_too(folder: Path, kind: str) -> None:
    done = run("concertoc", "check", "nope", "--format", kind, cwd=folder)
    assert "there is no file `nope`" in done.stdout and (done.stderr, done.returncode) == ("", 2)


def test_an_unknown_format_is_said_to_people(folder: Path) -> None:
    one_line(run("concertoc", "check", "right", "--format", "yaml", cwd=folder), "'yaml' is not one of")


def test_an_internal_error_has_a_document_too(folder: Path) -> None:
    code = "import concerto.cli.building as building, sys\nbuilding.check = lambda *_, **__: {}['x']\n"
    start = "from concerto.cli.entry import concertoc; concertoc()"
    command = [sys.executable, "-c", code + start, "check", "right", "--format", "json"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=240)
    assert "internal error: KeyError" in json.loads(done.stdout)["diagnostics"][0]["message"]
    assert done.returncode == 1


# --- warnings -------------------------------------------------------------------------------------


def warnings(folder: Path, *arguments: str, status: int = 0) -> int:
    done = run(*arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done.stderr.count("warning[")


def test_a_run_warns_when_it_compiles_anew(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WARNED)
    counts = [warnings(tmp_path, "concerto", "run", "main.conc") for _ in range(3)]
    assert counts == [1, 0, 0]
    (tmp_path / "main.conc").write_text(WARNED.replace("println(1)", "println(2)"))
    assert [warnings(tmp_path, "concerto", "run", "main.conc") for _ in range(2)] == [1, 0]


def test_a_run_does_not_repeat_what_a_build_said(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WARNED)
    assert [warnings(tmp_path, "concertoc", "build", ".") for _ in range(2)] == [1, 1]
    assert warnings(tmp_path, "concerto", "run", ".") == 0
    for command in (["concertoc", "check", "."], ["concertoc", "build", "."], ["concerto", "test", "."]):
        assert [warnings(tmp_path, *command) for _ in range(2)] == [1, 1]


def test_a_quiet_run_does_not_warn_but_shows_errors(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(WARNED)
    assert warnings(tmp_path, "concerto", "run", "--quiet", ".") == 0
    (tmp_path / "main.conc").write_text(WARNED.replace("3", "x"))
    assert "error[E0201]" in run("concerto", "run", "--quiet", ".", cwd=tmp_path).stderr


@pytest.mark.parametrize("command", [["concertoc", "check"], ["concertoc", "build"], ["concerto", "test"],
                                     ["concerto", "run"], ["concertoc", "dis"]])  # fmt: skip
def test_no_warnings_beside_errors(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "main.conc").write_text(WARNED.replace("println(1)", "println(x)"))
    done = run(*command, "main.conc", cwd=tmp_path)
    assert (done.stderr.count("error["), done.stderr.count("warning[")) == (1, 0)


def test_tests_of_one_file_know_nothing_of_another(tmp_path: Path) -> None:
    """What was wrong with one file is neither kept beside the next nor keeps it from being looked at."""
    (tmp_path / "a.conc").write_text(WARNED)
    (tmp_path / "b.conc").write_text(WARNED.replace("    let n = 3;\n", ""))
    assert [warnings(tmp_path, "concerto", "test", ".") for _ in range(2)] == [1, 1]
    assert warnings(tmp_path, "concerto", "test", "b.conc") == 0
    (tmp_path / "a.conc").write_text(WARNED.replace("3", "x"))
    (tmp_path / "b.conc").write_text(WARNED.replace("3", "y"))
    done = run("concerto", "test", ".", cwd=tmp_path)
    assert (done.stderr.count("error["), done.returncode) == (2, 2)

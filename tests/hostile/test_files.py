"""Ways out of the folders that a run may use, through `std::fs`, `FileTool` and files of hashmaps."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from concerto import Runtime, compile_source
from tests.hostile.commands import concerto

_OUTSIDE = "the secret of the outer world"

_PROGRAM = """
use std::fs;
use std::tools::FileTool;
fn told<T, E>(what: String, result: Result<T, E>) {
    match result {
        Ok(v) => println("${what} ${v}"),
        Err(e) => { let error: Any = e; println("${what} error ${error.kind}"); },
    }
}
fn main() {
    let path = "PATH";
    told("read", fs::read_file(path));
    told("tool", FileTool.read(path));
    told("list", fs::list_dir(path));
    told("size", fs::file_size(path));
    println("exists ${fs::exists(path)}");
    told("append", fs::append_file(path, "x"));
    told("write", fs::write_file(path, "x"));
    told("tool write", FileTool.write(path, "x"));
    told("remove", fs::remove_file(path));
}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project's folder with something secret beside it and links that lead there."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project / "data", outside):
        folder.mkdir(parents=True)
    (outside / "secret").write_text(_OUTSIDE)
    (project / "link").symlink_to(outside / "secret")
    (project / "folder").symlink_to(outside)
    (project / "relative").symlink_to("../outside/secret")
    (project / "chain").symlink_to("link")
    (project / "root").symlink_to("/")
    return project


def said(place: Path, path: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    source = _PROGRAM.replace("PATH", path)
    result = Runtime(compile_source(source), folder=place).run()
    out, err = capsys.readouterr()
    assert (result.status, err) == (0, "")
    return out.splitlines()


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret",
        "data/../../outside/secret",
        "./data/.././../outside/secret",
        "link",
        "folder/secret",
        "relative",
        "chain",
        "root/etc/passwd",
        "folder/../outside/secret",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "/proc/self/cwd/../outside/secret",
        "/dev/zero",
        "~/.ssh/id_rsa",
        "data/\\u{0}/../../outside/secret",
        "..\\u{0}/outside/secret",
        "\\u{ff0e}\\u{ff0e}/outside/secret",
        "..\\u{2215}outside\\u{2215}secret",
        "%2e%2e/outside/secret",
        "..\\\\outside\\\\secret",
        "file:///etc/passwd",
    ],
)
def test_no_path_leads_out(place: Path, capsys: pytest.CaptureFixture[str], path: str) -> None:
    before = sorted(each for each in (place.parent / "outside").iterdir())
    lines = said(place, path, capsys)
    assert not any(_OUTSIDE in line or "root:" in line for line in lines)
    assert (place.parent / "outside" / "secret").read_text() == _OUTSIDE
    assert sorted((place.parent / "outside").iterdir()) == before
    reads = [line for line in lines if line.startswith(("read", "tool ", "list", "size"))][:4]
    assert all(" error " in line for line in reads), lines


def test_what_is_no_plain_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe has no end, and nothing is to wait for one."""
    os.mkfifo(place / "pipe")
    writer = os.open(place / "pipe", os.O_RDWR | os.O_NONBLOCK)
    try:
        os.write(writer, b"never read")
        lines = said(place, "pipe", capsys)
    finally:
        os.close(writer)
    assert lines[:2] == ["read error IoError", "tool error IoError"]
    assert "append error IoError" in lines


def test_a_socket(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert said(place, "socket", capsys)[0] == "read error IoError"


def test_a_file_larger_than_memory(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (place / "huge").open("wb") as file:
        file.truncate(10**12)
    assert said(place, "huge", capsys)[:2] == ["read error IoError", "tool error IoError"]


def test_a_folder_swapped_for_a_link_while_it_is_used(place: Path) -> None:
    """The permission is given for one moment, the file is opened in another; the swap falls between them."""
    (place / "data" / "secret").write_text("inside")
    source = """
        use std::fs;
        fn main() -> Result<Int, String> {
            let mut seen = 0;
            for _ in 0..3000 {
                match fs::read_file("data/secret") {
                    Ok(text) => { if text != "inside" { return Err(text); } seen += 1; },
                    Err(_) => {},
                }
            }
            Ok(seen)
        }
    """
    over = threading.Event()
    real, kept, link = place / "data", place / "kept", place / "trap"
    link.symlink_to(place.parent / "outside")

    def swap() -> None:
        while not over.is_set():
            real.rename(kept)
            link.rename(real)
            real.rename(link)
            kept.rename(real)

    swapping = threading.Thread(target=swap, daemon=True)
    swapping.start()
    try:
        result = Runtime(compile_source(source), folder=place).run()
    finally:
        over.set()
        swapping.join(120)
    assert result.error is None


WRITE = """
use std::fs;
fn main() {
    match fs::write_file("kept.txt", "%s".repeat(%d)) {
        Ok(_) => println("written"),
        Err(e) => println(e.kind),
    }
}
"""


def test_a_full_disk_keeps_the_old_text(tmp_path: Path) -> None:
    # A run that is kept would stop because it cannot be.
    (tmp_path / "Concerto.toml").write_text('[runs]\nkeep = "never"\n')
    (tmp_path / "main.conc").write_text(WRITE % ("new", 100_000))
    (tmp_path / "kept.txt").write_text("old")
    start = "from concerto.cli.entry import concerto; concerto()"
    command = f"ulimit -f 64; exec '{sys.executable}' -c '{start}' run main.conc"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CONCERTO_CACHE": ""}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # It would be cut as well.
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("IoError\n", "")
    assert (tmp_path / "kept.txt").read_text() == "old"
    assert list(tmp_path.glob(".concerto*")) == []


def test_a_text_takes_the_place_of_another_whole(tmp_path: Path) -> None:
    """Whoever has the old one open goes on reading it; mode and folder stay as they were."""
    kept = tmp_path / "kept.txt"
    kept.write_text("old")
    kept.chmod(0o640)
    with kept.open() as before:
        (tmp_path / "main.conc").write_text(WRITE % ("new", 1))
        assert concerto(tmp_path, "run", "main.conc").stdout == "written\n"
        assert before.read() == "old"
    assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("new", 0o640)
    assert list(tmp_path.glob(".concerto*")) == []

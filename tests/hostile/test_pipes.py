"""Programs that write for ever to somebody who has left, as in `concerto run main.conc | head -1`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FLOODS = {
    "prints": (["stdout"], 'fn main() { loop { println("x"); } }', []),
    "prints of much": (["stdout"], 'fn main() { loop { println("x".repeat(100000)); } }', []),
    "prints in a try": (["stdout"], 'fn main() { loop { try { println("x"); } catch { } } }', []),
    "prints of a task": (
        ["stdout"],
        'async fn f() { loop { println("x"); } }\nfn main() { let t = spawn f(); let _ = await t; }',
        [],
    ),
    "prints with a limit": (["stdout"], 'fn main() { loop { println("x"); } }', ["--max-memory", "200"]),
    "emits": (["stdout"], 'fn main() { loop { emit("progress", {"a": 1}); } }', []),
    "emits as JSON": (["stdout"], 'fn main() { loop { emit("progress", {"a": 1}); } }', ["--json"]),
    "prints beside JSON": (["stderr"], 'fn main() { loop { println("x"); } }', ["--json"]),
    "logs": (["stderr"], 'use std::log;\nfn main() { loop { log::info("x"); } }', []),
    "prints and logs": (
        ["stdout", "stderr"],
        'use std::log;\nfn main() { loop { println("x"); log::info("y"); } }',
        [],
    ),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_ends_quietly_when_its_reader_leaves(tmp_path: Path, flood: str) -> None:
    left, source, options = FLOODS[flood]
    (tmp_path / "main.conc").write_text(source)
    start = "from concerto.cli.entry import concerto; concerto()"
    reader, writer = os.pipe()
    stdout, stderr = (writer if name in left else subprocess.PIPE for name in ("stdout", "stderr"))
    with subprocess.Popen(
        [sys.executable, "-c", start, "run", *options, "main.conc"],
        cwd=tmp_path,
        stdout=stdout,
        stderr=stderr,
    ) as process:
        os.close(writer)
        first = os.read(reader, 10)
        os.close(reader)
        try:
            out, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert first
    assert (process.returncode, out or b"", err or b"") == (1, b"", b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["run main.conc", "run --quiet main.conc", "test main.conc"])
def test_streams_that_were_closed(tmp_path: Path, closed: str, command: str) -> None:
    """Nothing is read or written there, by files neither that are opened later."""
    source = """use std::fs;
    hashmap kept: HashMap<String, Int> = HashMap::new().with_persistence("kept.db");
    fn main() { println("out"); log::warn("err"); kept.set("a", 1); fs::write_file("done", "yes").unwrap(); }
    use std::log;
    @test fn all() { main(); }
    """
    (tmp_path / "main.conc").write_text(source)
    start = "from concerto.cli.entry import concerto; concerto()"
    done = subprocess.run(
        ["sh", "-c", f'"$0" -c "$1" {command} {closed}', sys.executable, start],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (done.returncode, (tmp_path / "done").read_text()) == (0, "yes"), done.stderr
    assert "internal error" not in done.stdout + done.stderr
    if "run" in command:
        assert b"out" not in (tmp_path / "kept.db").read_bytes()


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    (tmp_path / "main.conc").write_text("fn main() {}")
    start = f"import os; os.rmdir({str(gone)!r}); from concerto.cli.entry import concerto; concerto()"
    done = subprocess.run(
        [sys.executable, "-c", start, "run", str(tmp_path / "main.conc")],
        cwd=gone,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert (done.returncode, done.stderr) == (1, "error: the current folder is gone\n")

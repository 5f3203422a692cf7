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
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert first
    assert (process.returncode, out or b"", err or b"") == (1, b"", b"")

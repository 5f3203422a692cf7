"""Runs programs whose host is `worker.py`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.program import Runtime
from tests.runtime.running import Outcome

WORKER = Path(__file__).parent / "worker.py"
DECLARED = "host Worker { connector: worker }\n"


def run_hosts(
    source: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    host: Mapping[str, Any] | None = None,
    more: str = "",
    quiet: bool = True,
    listeners: Mapping[str, Callable[[Any], None]] | None = None,
    **options: Any,
) -> Outcome:
    """Run a program; `host` changes the host's table, `more` is added to the manifest."""
    table = {"command": sys.executable, "args": [str(WORKER)], "timeout": 20.0, **(host or {})}
    params = table.pop("params", {})
    lines = ["[hosts.worker]", *_lines(table), "[hosts.worker.params]", *_lines(params), more]
    manifest = folder / "Concerto.toml"
    manifest.write_text("\n".join(lines))
    (folder / "main.conc").write_text(source)
    program = compile_file(folder / "main.conc")
    runtime = Runtime(
        program, manifest=load_manifest(manifest), folder=folder, echo=True, quiet=quiet, **options
    )
    for channel, listener in (listeners or {}).items():
        runtime.on(channel, listener)
    capsys.readouterr()
    result = runtime.run()
    out, err = capsys.readouterr()
    return Outcome(result.status, out, err, runtime, result)


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{name} = {json.dumps(value)}" for name, value in table.items()]


def execute(prompt: str, folder: Path, capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    """The text of one execution, or kind and message of its error."""
    text = prompt.replace("\\", "\\\\").replace('"', '\\"')
    source = f"""{DECLARED}
    fn main() {{
        match Worker.execute("{text}") {{
            Ok(response) => print(response.text),
            Err(error) => print("${{error.kind}}: ${{error.message}}"),
        }}
    }}
    """
    outcome = run_hosts(source, folder, capsys, **options)
    assert outcome.status == 0, outcome.err
    return outcome.out


def is_gone(pid: int) -> bool:
    """Whether a process ends soon."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if "zombie" in Path(f"/proc/{pid}/status").read_text(errors="replace"):
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    return False

"""Runs the real command in a process of its own, in a folder of a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def concerto(
    folder: Path,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    name: str = "concerto",
    given: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """How `concerto ARGUMENTS` ended. Whatever happens it is killed after five minutes, which is a failure;
    `given` is its standard input."""
    start = f"from concerto.cli.entry import {name}; {name}()"
    kept = {"PATH": os.environ["PATH"], "HOME": str(folder), "CONCERTO_STATE": str(folder / "state")}
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        cwd=folder,
        env={**kept, **(environment or {})},
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def run_source(
    folder: Path, source: str, *options: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """How `concerto run OPTIONS main.conc` ended, with that text in the file."""
    (folder / "main.conc").write_text(source, encoding="utf-8")
    return concerto(folder, "run", *options, "main.conc", environment=environment)

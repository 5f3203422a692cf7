"""Runs the commands as processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def command(name: str, *arguments: str) -> list[str]:
    code = f"import sys; sys.argv[0] = {name!r}; from concerto.cli.entry import {name}; {name}()"
    return [sys.executable, "-c", code, *arguments]


def environment() -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT)])),
        "PYTHONIOENCODING": "utf-8",
    }


def run(name: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(name, *arguments),
        cwd=cwd,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )


def one_line(result: subprocess.CompletedProcess[str], text: str, status: int = 2) -> None:
    """The command failed with nothing but one line on stderr."""
    assert (result.stdout, result.returncode) == ("", status), result.stderr
    assert result.stderr.startswith("error: "), result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert text in result.stderr

"""Writes the page of figures, `docs/pages/internals/speed.md`: `python -m tests.bench.figures [SUITE …]`.

Each suite runs in a process of its own, one after the other; the page says on which machine and with which
versions. Peers are installed for it into an environment that is removed afterwards.
"""

from __future__ import annotations

import atexit
import os
import platform
import subprocess
import sys
import tempfile
import venv
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "internals" / "speed.md"

SUITES = {
    "execution programs": "A construct a program, beside the same in hand-written Python",
    "execution everyday": "Everyday programs",
    "execution set_aside": "Everyday programs that were set aside",
    "startup": "Whole processes",
    "agents --memory": "The loop of an agent, beside one written by hand with httpx2",
    "compiling": "Source to IR",
    "peers": "The loop, beside agent frameworks",
}

_PEERS = "tests/bench/peers.txt"

INTRODUCTION = """# Speed

Figures that `python -m tests.bench.figures` measured and wrote. Only the ratios within one table mean
something: both sides ran in turn, and the least CPU time of several rounds counts. The programs of
`set_aside` were written by somebody who did not know how programs are executed, and were not looked at before
they were measured.
"""


def main(names: list[str]) -> None:
    parts = [INTRODUCTION, _machine()]
    for name in names or SUITES:
        python = _with_peers() if name == "peers" else sys.executable
        command = [python, "-m", *f"tests.bench.{name}".split()]
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        text = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        parts.append(f"## {SUITES[name]}\n\n`python -m tests.bench.{name}`\n\n```text\n{text}\n```\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


@cache
def _with_peers() -> str:
    """The interpreter of an environment of its own that the peers are installed in."""
    folder = Path(tempfile.mkdtemp(prefix="peers-"))
    atexit.register(rmtree, folder)
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, "-e", ".", "-r", _PEERS], check=True)
    return python


def _machine() -> str:
    peers = ", ".join(f"{name} {version(name)}" for name in ("lark", "greenlet", "pydantic"))
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores; "
        f"{platform.python_implementation()} {platform.python_version()}; {peers}.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

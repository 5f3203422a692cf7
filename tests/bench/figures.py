"""Writes the page of figures, `docs/pages/internals/speed.md`: `python -m tests.bench.figures [SUITE …]`.

Each suite runs in a process of its own, one after the other; the page says on which machine and with which
versions. Environments for a newer Python and for peers are made for it and removed afterwards.
"""

from __future__ import annotations

import atexit
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree, which

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "internals" / "speed.md"

SUITES = {
    "execution programs": "A construct a program, beside the same in hand-written Python",
    "execution everyday": "Everyday programs",
    "execution set_aside": "Everyday programs that were set aside",
    "execution": "All of these on the newest Python",
    "startup": "Whole processes",
    "agents --memory": "The loop of an agent, beside one written by hand with httpx2",
    "peers": "The loop, beside agent frameworks",
    "compiling": "Source to IR",
}

INTRODUCTION = """# Speed

Figures that `python -m tests.bench.figures` measured and wrote. Only the ratios within one table mean
something: both sides ran in turn, and the least CPU time of several rounds counts. The programs of
`set_aside` were written by somebody who did not know how programs are executed, and were not looked at before
they were measured.
"""


def main(names: list[str]) -> None:
    parts = [INTRODUCTION, _machine()]
    for name in names or SUITES:
        python = _interpreter(name)
        if python is None:
            print(f"{name}: there is no newer Python here")
            continue
        command = [python, "-m", *f"tests.bench.{name}".split()]
        done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        text = "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())
        parts.append(f"## {SUITES[name]}\n\n`python -m tests.bench.{name}`\n\n```text\n{text}\n```\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


def _interpreter(suite: str) -> str | None:
    """The one that a suite runs on; None if it is not there."""
    if suite == "peers":
        return _environment(sys.executable, "-r", "tests/bench/peers.txt")
    if suite == "execution":
        newest = _newest()
        return None if newest is None else _environment(newest)
    return sys.executable


def _environment(python: str, *requirements: str) -> str:
    """The interpreter of a new environment with the checkout and more in it."""
    folder = Path(tempfile.mkdtemp(prefix="figures-"))
    atexit.register(rmtree, folder)
    subprocess.run([python, "-m", "venv", folder], check=True)
    made = str(folder / "bin" / "python")
    install = [made, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*install, "-e", ".", *requirements], check=True)
    return made


def _newest() -> str | None:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for minor in range(20, sys.version_info.minor, -1):
        for found in (which(f"python3.{minor}"), *pyenv.glob(f"versions/3.{minor}.*/bin/python")):
            if found and not subprocess.run([found, "-c", ""], capture_output=True).returncode:
                return str(found)
    return None


def _machine() -> str:
    peers = ", ".join(f"{name} {version(name)}" for name in ("lark", "greenlet", "pydantic"))
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores; "
        f"{platform.python_implementation()} {platform.python_version()}; {peers}.\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])

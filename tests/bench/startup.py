"""What a start costs: whole processes that run cached programs, against bare ones of Python.

`python -m tests.bench.startup [ROUNDS]` prints ratios of CPU time. Processes are measured in turns and the
least of each counts, so that a busy machine changes little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

HELLO = 'fn main() { println("hello"); }\n'


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "hello.conc"
        program.write_text(HELLO)
        os.environ["CONCERTO_CACHE"] = folder
        # Modules are loaded from their own caches, as they are wherever a program is installed.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        start = "import sys; from concerto.cli.entry import concerto; concerto()"
        bare, hello = least(
            rounds,
            [sys.executable, "-c", "pass"],
            [sys.executable, "-c", start, "run", str(program)],
        )
    print(f"python -c pass {bare * 1000:.1f} ms, a cached hello {hello * 1000:.1f} ms: {hello / bare:.2f}")


def least(rounds: int, *commands: list[str]) -> list[float]:
    """The least CPU seconds of each command, after one run that fills the caches."""
    best = [float("inf")] * len(commands)
    for turn in range(rounds + 1):
        for index, command in enumerate(commands):
            seconds = cpu_seconds(command)
            if turn:
                best[index] = min(best[index], seconds)
    return best


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)

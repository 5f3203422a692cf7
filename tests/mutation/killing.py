"""Looks for a difference that a change makes: `python -m tests.mutation.killing EXPECTED`.

`EXPECTED` is a JSON list of programs with what they do without the change. Exit status 0: no difference;
1: there is one, and the first is printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.mutation import importing  # noqa: F401 – makes the change


def main() -> int:
    try:
        from concerto.compiler.depth import on_large_stack

        found = on_large_stack(lambda: next(_differences(Path(sys.argv[1])), None))
    except BaseException as crash:
        found = f"{type(crash).__name__}: {crash}"
    if found is None:
        return 0
    print(found[:300].replace("\n", " "))
    return 1


def _differences(expected: Path) -> Iterator[str]:
    for number, program in enumerate(json.loads(expected.read_text())):
        done = does(program["files"])
        for way, outcome in done.items():
            if outcome != program["does"]:
                yield f"random program {number}, {way}"


def does(files: Mapping[str, str]) -> dict[str, list[Any]]:
    """What a program does on each tier, as JSON has it."""
    from concerto.emit import emit_program
    from tests.properties.running import analyzed, run

    module = emit_program(analyzed(files))
    found = {}
    for tier in ("python", "interpreter"):
        outcome = run(module, "python" if tier == "python" else "interpreter")
        found[tier] = [outcome.status, outcome.stdout, outcome.stderr]
    return found


if __name__ == "__main__":
    sys.exit(main())

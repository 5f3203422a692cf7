"""Formats the test programs in place, each file of a program by itself: `python -m tests.harness.formatting`.

With `--check` nothing is written and the status tells whether all are formatted. A file with a syntax error
cannot be formatted and stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from concerto.diagnostics import Problems
from concerto.source import Source
from concerto.syntax.format import format_module
from concerto.syntax.parser import parse
from tests.harness.expectations import FILE_LINE, MAIN

PROGRAMS = Path(__file__).parents[1] / "programs"


@dataclass(frozen=True)
class Part:
    """One file of a test program; `heading` is the line it begins with, empty for the first."""

    name: str
    heading: str
    text: str

    def formatted(self) -> str | None:
        """None if it is no program or has a syntax error."""
        if not self.name.endswith(".conc"):
            return None
        problems = Problems()
        tree = parse(Source(self.name, self.text), problems)
        return None if problems.errors else format_module(tree)


def parts_of(text: str) -> Iterator[Part]:
    name, heading, lines = MAIN, "", list[str]()
    for line in text.splitlines(keepends=True):
        if start := FILE_LINE.match(line):
            yield Part(name, heading, "".join(lines))
            name, heading, lines = start[1], line, []
        else:
            lines.append(line)
    yield Part(name, heading, "".join(lines))


def formatted_program(text: str) -> str:
    return "".join(part.heading + (part.formatted() or part.text) for part in parts_of(text))


def main(check: bool) -> int:
    unformatted = 0
    for path in sorted(PROGRAMS.rglob("*.conc")):
        before = path.read_text(encoding="utf-8")
        after = formatted_program(before)
        if after == before:
            continue
        unformatted += 1
        print(f"{'would change' if check else 'changed'} {path}", file=sys.stderr)
        if not check:
            path.write_text(after, encoding="utf-8", newline="")
    return int(check and unformatted > 0)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

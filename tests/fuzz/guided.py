"""Coverage-guided cases for the parser and the reader of IR files, with atheris (`pip install atheris`):
`python -m tests.fuzz.guided parser|ir FOLDER [options of libFuzzer]`.

The folder is filled with the test programs, or their IR, if it is empty; what reaches new code is added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

with atheris.instrument_imports(include=["concerto.syntax", "concerto.ir", "concerto.source"]):
    from concerto.diagnostics import Problems, render
    from concerto.syntax.format import format_module
    from concerto.syntax.parser import decode, parse
    from tests.fuzz.ir_files import compiled_program, load
    from tests.properties.checks import corpus

_LONGEST = 1500
_RECURSION = 20_000


def parser(data: bytes) -> None:
    """Any bytes parse or get diagnostics, and what parses can be formatted."""
    problems = Problems()
    tree = parse(decode(data, "main.conc", problems), problems)
    render(problems)
    if not problems.errors:
        format_module(tree)


def ir(data: bytes) -> None:
    load(data)


TARGETS: dict[str, Callable[[bytes], object]] = {"parser": parser, "ir": ir}


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        _fill(folder, name)
    sys.setrecursionlimit(_RECURSION)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[name])
    atheris.Fuzz()


def _fill(folder: Path, name: str) -> None:
    for number, text in enumerate(corpus()):
        data = text.encode("utf-8", "surrogatepass") if name == "parser" else compiled_program(number)
        if data is not None and len(text) < _LONGEST:
            (folder / str(number)).write_bytes(data)


if __name__ == "__main__":
    main()

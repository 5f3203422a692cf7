"""The texts: one a folder of `tests/programs` for diagnostics, one a program of `code/` for IR and Python."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from concerto.diagnostics import render
from concerto.ir.disassembler import disassemble
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from tests.harness.expectations import MAIN, read_expectations
from tests.harness.running import compile_program

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "programs"
DIAGNOSTICS = HERE / "diagnostics"
CODE = HERE / "code"


def snapshots() -> Mapping[Path, Callable[[], str]]:
    """What makes the text of each file."""
    folders = sorted({path.parent for path in PROGRAMS.rglob("*.conc")})
    pages = {DIAGNOSTICS / f"{_name(folder)}.txt": partial(_pages, folder) for folder in folders}
    return pages | {path.with_suffix(".txt"): partial(_code, path) for path in sorted(CODE.glob("*.conc"))}


def _name(folder: Path) -> str:
    return "_".join(folder.relative_to(PROGRAMS).parts) or "programs"


def _pages(folder: Path) -> str:
    """All that is said of the programs of a folder, each under its name."""
    return "\n".join(_page(path) for path in sorted(folder.glob("*.conc")) if _is_faulty(path))


def _is_faulty(path: Path) -> bool:
    return bool(read_expectations(path.read_text(encoding="utf-8")).problems)


def _page(path: Path) -> str:
    expected = read_expectations(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        _, problems = compile_program(expected.files, Path(folder), to_run=expected.wants_main)
        return f"==== {path.stem}\n\n{render(problems)}"


def _code(path: Path) -> str:
    """The instructions of a program and the Python that they become."""
    with tempfile.TemporaryDirectory() as folder:
        module, problems = compile_program(
            {MAIN: path.read_text(encoding="utf-8")}, Path(folder), to_run=False
        )
    assert module is not None, render(problems)
    return "\n".join([disassemble(module), *_python(module_texts(module, Names())[0])])


def _python(texts: dict[int, str]) -> Iterator[str]:
    for text in texts.values():
        yield f"{text}\n"

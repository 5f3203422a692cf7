"""What a change in a project of fifty modules costs: `python -m tests.bench.rebuilding [MODULES]`.

Each row compiles the project with what the compilation before left in the cache, as `concertoc build` does:
milliseconds of CPU, and how many of the files had their bodies compiled.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from pathlib import Path

from concerto.compiler.disk import open_project, read_program
from concerto.compiler.driver import load_module, open_program
from concerto.compiler.pipeline import read_source
from concerto.compiler.units import Units, compile_changed
from concerto.diagnostics import Problems
from tests.compiler.projects import project


def main(modules: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["CONCERTO_CACHE"] = str(folder / "cache")
        files = project(modules)
        for file, text in files.items():
            (folder / file).write_text(text)
        build(folder, None)
        lines = sum(text.count("\n") for text in files.values())
        units, taken, compiled, count = build(folder, None)
        show(f"everything ({lines} lines)", taken, compiled, count)
        for _ in range(2):
            load(folder)
        print(f"{'nothing changed':32} {load(folder):7.1f} ms")
        middle = folder / f"m{modules // 2}.conc"
        for row, old, new in (
            ("a line of a body", "each * 2", "each * 3"),
            ("a line of a signature", "count: Int = 3", "count: Int = 4"),
        ):
            middle.write_text(middle.read_text().replace(old, new))
            units, taken, compiled, count = build(folder, units)
            show(row, taken, compiled, count)


def build(folder: Path, units: Units | None) -> tuple[Units | None, float, int, int]:
    """What the compilation left, its milliseconds, the files it compiled, and all files."""
    path, problems = folder / "main.conc", Problems()
    gc.collect()
    begun = time.process_time()
    source = read_source(path.read_bytes(), str(path), problems)
    compiled = compile_changed(source, open_project(path, problems), problems, units)
    taken = (time.process_time() - begun) * 1000
    assert compiled.module is not None and compiled.units is not None, [each.message for each in problems]
    return compiled.units, taken, len(compiled.paths), len(compiled.units.files)


def load(folder: Path) -> float:
    """Milliseconds until the module of an unchanged program is there."""
    path, problems = folder / "main.conc", Problems()
    begun = time.process_time()
    load_module(open_program(read_program(path), problems), problems)
    return (time.process_time() - begun) * 1000


def show(row: str, taken: float, compiled: int, files: int) -> None:
    print(f"{row:32} {taken:7.1f} ms  {compiled:3} of {files} files compiled")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 50)

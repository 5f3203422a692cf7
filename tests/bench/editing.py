"""What the language server takes while somebody types: `python -m tests.bench.editing [EDITS]`.

A file of 2,000 lines in a project of 50 others. An edit is a letter that is typed or taken away again, one in
ten in a signature, the others in bodies, where one in three breaks the syntax; or, one in ten, a bracket that
is opened at the end of a line and closed again, in rows of their own. Then come, as in an editor, a
completion, the diagnostics of the file, a hover and a definition, each on the text as it is then.
Milliseconds of CPU (and by the clock): the median and the 95th percentile, beside a whole check of the same
project. Then memory after a tenth and after all of the edits, and what it takes from the start of a process
to its first diagnostics: of the large file, and of a small one without a project, with bytecode as an
installed package has it.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from concerto.compiler.disk import read_program
from concerto.compiler.driver import open_program
from concerto.compiler.pipeline import analyze
from concerto.diagnostics import Problems
from concerto.language_server.completion import complete_in
from concerto.language_server.definition import definition
from concerto.language_server.documents import Documents
from concerto.language_server.hover import hover
from concerto.language_server.programs import Programs, problems_by_file
from tests.bench.compiling import program
from tests.compiler.projects import project
from tests.language_server.client import language_server

_LINES = 2000
_MODULES = 50


def main(edits: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["CONCERTO_CACHE"] = str(folder / "cache")
        text = write_project(folder)
        taken = type_letters(folder, text, edits)
        check = [measured(lambda: whole_check(folder)) for _ in range(5)]
        for row, found in (*taken.items(), ("a whole check", check)):
            print(f"{row:24} {shown([cpu for cpu, _ in found])} ({shown([clock for _, clock in found])})")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        alone = folder.parent / f"{folder.name}.conc"
        for file, written in ((folder / "big.conc", text), (alone, 'fn main() { let x: Int = "a"; }\n')):
            starts = [cold_start(file, written) for _ in range(4)][1:]
            cpu, clock = map(min, zip(*starts, strict=True))
            print(f"{f'start, {len(written.splitlines())} lines':24} {cpu:6.0f} ms ({clock:6.0f} ms)")


def write_project(folder: Path) -> str:
    """The text of the large file."""
    for file, text in project(_MODULES).items():
        uses = "use big;\n" if file == "main.conc" else ""
        (folder / file).write_text(uses + text)
    (folder / "Concerto.toml").write_text('[project]\nname = "large"\n')
    large = program(_LINES).replace("fn main() {}", "pub fn last() -> Int { 1 }")
    (folder / "big.conc").write_text(large)
    return large


def type_letters(folder: Path, text: str, edits: int) -> dict[str, list[tuple[float, float]]]:
    documents = Documents()
    programs = Programs(documents)
    path, chance = folder / "big.conc", random.Random(1)
    taken: dict[str, list[tuple[float, float]]] = defaultdict(list)
    bodies = [at + 8 for at in range(len(text)) if text.startswith("let mut total", at)]
    heads = [at + 3 for at in range(len(text)) if text.startswith("fn count", at)]
    ends = [at for at in range(len(text)) if text[at] == "\n"]

    def diagnostics() -> None:
        program = programs.program_of(path)
        assert program is not None
        source = program.source(path)
        assert source is not None
        program.check(source)
        problems_by_file(program.problems())

    def ask(question: Callable[..., object], offset: int) -> None:
        program = programs.program_of(path)
        assert program is not None
        question(program, program.source(path), offset)

    documents.put(path, path.as_uri(), 0, text)
    diagnostics()
    gc.disable()
    at = 0
    for number in range(edits):
        edited, opens = text, number % 20 in (6, 7)
        if number % 2 == 0:
            places = heads if number % 20 == 0 else ends if opens else bodies
            at = chance.choice(places)
            typed = chance.choice(("{", "(", "[")) if opens else "t." if number % 3 == 1 else "x"
            edited = text[:at] + typed + text[at:]
        documents.put(path, path.as_uri(), number, edited)
        cursor = at + len(edited) - len(text)
        taken["completion"].append(measured(lambda: complete_in(programs, path, cursor)))  # noqa: B023
        after = (", bracket closed" if edited is text else ", bracket opened") if opens else ""
        taken[f"diagnostics{after}"].append(measured(diagnostics))
        taken["hover"].append(measured(lambda: ask(hover, at)))  # noqa: B023
        taken["definition"].append(measured(lambda: ask(definition, at)))  # noqa: B023
        if number % 30 == 0:
            gc.collect()
        if number == edits // 10:
            first = memory()
    gc.enable()
    print(f"{'memory':24} {first} MB, then {memory()} MB")
    return taken


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of CPU and by the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - clock) * 1000


def whole_check(folder: Path) -> None:
    problems = Problems()
    opened = open_program(read_program(folder / "main.conc"), problems)
    analyze(opened.source, opened.project, problems)


def cold_start(file: Path, text: str) -> tuple[float, float]:
    """Milliseconds of the server's CPU until its end, and by the clock until its first diagnostics."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with language_server(file.parent) as client:
        client.open(file, text)
        client.problems(file)
        clock = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu * 1000, clock * 1000


def memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def shown(values: list[float]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):6.0f} {ordered[int(len(ordered) * 0.95)]:6.0f} ms"


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 200)

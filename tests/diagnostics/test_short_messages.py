"""What is said of a long program is short: a cycle once, the first of many names."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.diagnostics import Problem
from tests.harness.expectations import MAIN
from tests.harness.running import compile_program

LONGEST = 400
MANY = 60


def numbered(part: str, separator: str = "") -> str:
    return separator.join(part.replace("#", str(number)) for number in range(MANY))


def file(uses: set[int], number: int) -> str:
    return "".join(f"use m{used}::f{used};\n" for used in sorted(uses)) + f"pub fn f{number}() {{}}\n"


TEXTS = {
    "functions of a trait": (
        f"trait T {{ {numbered('fn f#(self);')} }}\nstruct S {{}}\nimpl T for S {{}}\n",
        "`f7` and 52 more missing",
    ),
    "a cycle of structs": (
        "".join(f"struct S{n} {{ next: S{(n + 1) % MANY} }}\n" for n in range(MANY)),
        "`S8` and 51 more, so none can ever be made",
    ),
    "literals": (
        "type K = " + numbered('"k#"', " | ") + ";\nfn f(k: K) {}\nfn g(s: String) { f(s); }\n",
        '| "k7" | … 52 more`, found `String`',
    ),
    "fields": (f"struct S {{ {numbered('f#: Int', ', ')} }}\nfn g() -> S {{ S {{}} }}\n", "`f7` and 52 more"),
    "arguments": (f"fn f({numbered('a#: Int', ', ')}) {{}}\nfn g() {{ f(); }}\n", "`a7: Int` and 52 more"),
}
CYCLES = {
    "all need all": ([set(range(MANY)) - {n} for n in range(MANY)], "`m0` → `m1` → `m0`"),
    "a ring": ([{(n + 1) % MANY} for n in range(MANY)], "`m0` → `m1` → `m2`"),
    "a ring with ways across": ([{(n + 1) % MANY, (n * 7 + 3) % MANY} - {n} for n in range(MANY)], "`m"),
}


def found_in(files: dict[str, str], folder: Path) -> list[Problem]:
    found: list[Problem] = compile_program(files, folder, to_run=False)[1]
    return [problem for problem in found if problem.severity == "error"]


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_of_many_names_are_told(name: str, tmp_path: Path) -> None:
    text, expected = TEXTS[name]
    (problem,) = found_in({MAIN: f"{text}fn main() {{}}\n"}, tmp_path)
    assert expected in problem.message
    assert max(len(each) for each in (problem.message, problem.help, problem.label)) < LONGEST


@pytest.mark.parametrize("name", CYCLES)
def test_files_that_need_each_other_are_told_once(name: str, tmp_path: Path) -> None:
    uses, expected = CYCLES[name]
    files = {f"m{number}.conc": file(each, number) for number, each in enumerate(uses)}
    (problem,) = found_in({MAIN: "use m0::f0;\nfn main() { f0(); }\n"} | files, tmp_path)
    assert problem.code == "E0504" and expected in problem.message
    assert len(problem.message) < LONGEST and len(problem.related) < 10

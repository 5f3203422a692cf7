"""Programs that no person writes compile, or get a diagnostic; nothing crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.expectations import MAIN, Expectations
from tests.harness.programs import TIERS
from tests.harness.running import compile_program, run_program


def main(expression: str) -> str:
    return f"fn main() {{ println({expression}); }}\n"


LONG = {
    "a long sum": (main("+".join(["1"] * 20_000)), "20000\n"),
    "a long text": (main("+".join(['"a"'] * 5_000)), "a" * 5_000 + "\n"),
    "a long chain of methods": (main("[1]" + ".reverse()" * 2_000), "[1]\n"),
    "a long pipe": ("fn id(n: Int) -> Int { n }\n" + main("1" + " |> id" * 2_000), "1\n"),
    "a long array": (main("[" + "1, " * 5_000 + "].len()"), "5000\n"),
    "many statements": (
        "fn main() {\n    let mut n = 0;\n" + "    n += 1;\n" * 3_000 + "    println(n);\n}\n",
        "3000\n",
    ),
    "deep parentheses": (main("(" * 200 + "1" + ")" * 200), "1\n"),
}
DEEP = {
    "parentheses": main("(" * 10_000 + "1" + ")" * 10_000),
    "arrays": main("[" * 10_000 + "]" * 10_000),
    "negations": main("!" * 10_000 + "true"),
    "blocks": "fn main() {" + "if true {" * 5_000 + "}" * 5_000 + "}\n",
    "types": f"fn f(a: {'Array<' * 5_000}Int{'>' * 5_000}) {{}}\nfn main() {{}}\n",
    "interpolations": main('"${' * 5_000 + "1" + '}"' * 5_000),
    "openers alone": "([{" * 20_000,
}


@pytest.mark.parametrize("name", LONG)
def test_long_programs_run(name: str, tmp_path: Path) -> None:
    text, output = LONG[name]
    module, problems = compile_program({MAIN: text}, tmp_path, to_run=True)
    assert not problems and module is not None
    for tier in TIERS:
        outcome = run_program(module, Expectations(), tmp_path, tier)
        assert (outcome.stdout, outcome.status) == (output, 0), outcome.stderr


@pytest.mark.parametrize("name", DEEP)
def test_deep_programs_get_a_diagnostic(name: str, tmp_path: Path) -> None:
    module, problems = compile_program({MAIN: DEEP[name]}, tmp_path, to_run=True)
    assert module is None
    assert problems and all(problem.code.startswith("E01") for problem in problems)

"""What nests deeper than the language allows gets one diagnostic; what nests less deep runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness.checking import compiled, doing, expect_codes, expect_output, printing

TOO_DEEP = {
    "parentheses": printing("(" * 10_000 + "1" + ")" * 10_000),
    "arrays": printing("[" * 5_000 + "]" * 5_000),
    "maps": printing('{"a": ' * 5_000 + "1" + "}" * 5_000),
    "tuples": printing("(1, " * 5_000 + "1" + ")" * 5_000),
    "calls": printing("len(" * 5_000 + "1" + ")" * 5_000),
    "negations": printing("!" * 10_000 + "true"),
    "blocks": doing("{" * 5_000 + "}" * 5_000),
    "ifs": doing("if true {" * 5_000 + "}" * 5_000),
    "conditions of else ifs": doing("let a = if true {}" + " else if let x = if true {}" * 5_000 + " {}"),
    "negated else ifs": doing("if true {}" + " else if !if true {}" * 5_000 + " {}"),
    "loops": doing("loop {" * 5_000 + "}" * 5_000),
    "matches": doing("match 1 { _ => " * 5_000 + "1" + "}" * 5_000),
    "closures": doing("let f = " + "|| " * 5_000 + "1;"),
    "types": f"fn f(a: {'Array<' * 5_000}Int{'>' * 5_000}) {{}}\nfn main() {{}}\n",
    "patterns": doing("match 1 { " + "Some(" * 5_000 + "_" + ")" * 5_000 + " => 1, _ => 2 };"),
    "interpolations": printing('"${' * 5_000 + "1" + '}"' * 5_000),
}
ELSE = " else { println(1); }"
DEEP_ENOUGH = {
    "parentheses": (printing("(" * 200 + "1" + ")" * 200), "1\n"),
    "arrays": (printing("[" * 200 + "1" + "]" * 200), "[" * 200 + "1" + "]" * 200 + "\n"),
    "ifs": (doing("if true {" * 200 + "println(1);" + "}" * 200), "1\n"),
    "else ifs": (
        doing("let n = 4_999;\nif n < 0 {}" + "".join(f" else if n < {n} {{}}" for n in range(4_999)) + ELSE),
        "1\n",
    ),
    "generics": (
        f"fn f(a: {'Array<' * 200}Int{'>' * 200}) -> Int {{ a.len() }}\n" + printing("f([])"),
        "0\n",
    ),
    "options": (printing("Some(" * 200 + "1" + ")" * 200 + ".is_some()"), "true\n"),
    "comments": ("/*" * 5_000 + "*/" * 5_000 + printing("1"), "1\n"),
}
# What a statement lacks is told, and no depth that only comes of it.
UNFINISHED = {
    "let": (doing("let x = 1\n" * 2_000), "expected `;`"),
    "assignments": (doing("x = 1\n" * 2_000), "expected `;`"),
    "functions of a server": ("mcp S {\n" + "fn a() -> Array<Int>\n" * 2_000 + "}\n", "expected `;`"),
    "functions of Python": ("def f(a):\n    return a\n" * 2_000, "there is no `def`"),
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_too_deep(name: str, tmp_path: Path) -> None:
    expect_codes(TOO_DEEP[name], ["E0105"], tmp_path)


@pytest.mark.parametrize("name", DEEP_ENOUGH)
def test_deep_enough(name: str, tmp_path: Path) -> None:
    expect_output(*DEEP_ENOUGH[name], tmp_path)


@pytest.mark.parametrize("name", UNFINISHED)
def test_unfinished_statements_are_no_levels(name: str, tmp_path: Path) -> None:
    text, message = UNFINISHED[name]
    _, problems = compiled(text, tmp_path)
    assert problems[0].message == message


def test_openers_alone(tmp_path: Path) -> None:
    expect_codes("([{" * 20_000, ["E0105"], tmp_path)

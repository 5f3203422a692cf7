"""The oracle is a third opinion: it shares nothing with what it judges, and it leaves out only programs that
need the world outside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.harness.expectations import MAIN, read_expectations
from tests.oracle import LEFT_OUT, PROGRAMS, Unsupported, evaluate
from tests.properties.running import agree, outcomes

_JUDGED = (
    "concerto.emit",
    "concerto.ir",
    "concerto.vm",
    "concerto.natives",
    "concerto.program",
    "concerto.runtime",
)


def test_nothing_is_shared() -> None:
    files = sorted(Path(__file__).parent.rglob("*.py"))
    assert len(files) > 10
    for file in files:
        if not file.name.startswith("test_"):
            shared = [name for name in _imports(file) if name.startswith(_JUDGED)]
            assert not shared, f"{file.name} imports {shared}"
            foreign = [name for name in _imports(file) if name.startswith("tests.")]
            assert all(name.startswith(("tests.oracle", "tests.harness.checking")) for name in foreign)


def _imports(file: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return found


@pytest.mark.parametrize("name", LEFT_OUT)
def test_left_out(name: str) -> None:
    """What is left out is indeed not taken, for the reason that is given."""
    expected = read_expectations((PROGRAMS / name).read_text(encoding="utf-8"))
    with pytest.raises(Unsupported) as refused:
        evaluate(expected.files, expected.arguments, expected.environment)
    assert LEFT_OUT[name] in str(refused.value)


def test_a_failure_is_told() -> None:
    outcome = evaluate({"main.conc": "fn main() { println(1); println([1][2]); }"})
    assert outcome.stdout == "1\n"
    assert (outcome.status, outcome.stderr) == (1, "error: index 2 is out of bounds for length 1\n")


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("", "let a: Any = (1, 2); let b: Any = (1, 2, 3); println(a < b); println(b <= a);"),
        (
            "trait A { fn m(self) -> Int; } trait B { fn m(self) -> Int; } struct S {}"
            "impl B for S { fn m(self) -> Int { 2 } } impl A for S { fn m(self) -> Int { 1 } }",
            "let a: Any = S {}; println(a.m());",
        ),
    ],
)
def test_what_is_behind_an_any_is_as_on_the_tiers(declared: str, body: str) -> None:
    found = outcomes({MAIN: f"{declared} fn main() {{ {body} }}"})
    assert "oracle" in found
    assert agree(found), found

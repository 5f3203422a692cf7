"""The Python tier writes every function, and CPython takes what it writes: what is left the interpreter does,
rightly and slowly."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.compiler import CompileError, compile_file
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from concerto.vm.python_tier.specialising import specialise
from tests.properties.running import agree, outcomes
from tests.vm.tracing import traced_otherwise

_TESTS = Path(__file__).parents[1]
_FOLDERS = {
    str(path.parent.relative_to(_TESTS))
    for top in ("bench", "programs")
    for path in (_TESTS / top).rglob("*.conc")
}


@pytest.mark.parametrize("folder", sorted(_FOLDERS))
@pytest.mark.filterwarnings("ignore")
def test_no_function_is_left_to_the_interpreter(folder: str) -> None:
    for path in sorted((_TESTS / folder).glob("*.conc")):
        try:
            module = specialise(compile_file(path).module).module
        except CompileError:
            continue
        texts, _ = module_texts(module, Names())
        left = [function.name for index, function in enumerate(module.functions) if index not in texts]
        assert not left, path.name
        for index, text in texts.items():
            compile(text, f"{path.name} {module.functions[index].name}", "exec", dont_inherit=True)


@pytest.mark.parametrize("folder", sorted(_FOLDERS))
@pytest.mark.filterwarnings("ignore")
def test_functions_are_traced_by_the_text_that_runs(folder: str) -> None:
    """A function is written once more to know where its text comes from: with marks, and else the same."""
    for path in sorted((_TESTS / folder).glob("*.conc")):
        try:
            module = specialise(compile_file(path).module).module
        except CompileError:
            continue
        assert not traced_otherwise(module), path.name


NESTED = "while t < 50 { $INSIDE if t % 7 == 0 { break; } }"

LEFT = """
use std::collections::Set;

fn sum(seen: Set<Int>, more: Int) -> Int {
    let mut t = more;
    $LOOPS
    t + seen.len()
}

fn found(seen: Set<Int>, more: Int) -> Option<Int> {
    let mut t = more;
    $LOOPS
    if seen.is_empty() { None } else { Some(t) }
}

fn same(seen: Set<Int>, more: Int) -> Set<Int> {
    let mut t = more;
    $LOOPS
    let mut all = Set::from([t]);
    all.insert(t + 1);
    all
}

fn main() {
    let start = Set::from([1, 2]);
    println("${sum(start, 7)} ${found(start, 7) ?? 0} ${same(start, 7).len()} ${start.len()}");
}
"""


def test_what_is_left_takes_and_gives_in_the_open() -> None:
    loops = "t += 1; if seen.contains(t) { t += 1; }"
    for _ in range(18):
        loops = NESTED.replace("$INSIDE", loops)
    results = outcomes({"main.conc": LEFT.replace("$LOOPS", loops)})
    assert agree(results)
    assert results["python"].stdout == "16 14 2 2\n"

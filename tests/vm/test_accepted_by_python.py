"""The Python tier writes every function, and CPython takes what it writes: what is left the interpreter does,
rightly and slowly."""

from __future__ import annotations

from pathlib import Path

import pytest

from concerto.compiler import CompileError, compile_file
from concerto.vm.python_tier.codegen import module_texts
from concerto.vm.python_tier.names import Names
from concerto.vm.python_tier.specialising import specialise
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

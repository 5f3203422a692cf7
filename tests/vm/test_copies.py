"""Programs that share nothing copy nothing; time is measured in `tests/bench/copying.py`."""

from __future__ import annotations

import pytest

from concerto.compiler import compile_source
from tests.bench.copying import PROGRAMS, copies
from tests.bench.execution import work_of
from tests.properties.running import agree, outcomes


@pytest.mark.parametrize("title", PROGRAMS)
def test_only_what_is_shared_is_copied(title: str) -> None:
    work = work_of(compile_source(PROGRAMS[title]).module)
    assert copies(work, 200) == (1 if title == "shared" else 0)


def test_what_an_any_holds_is_copied_however_deep_it_is() -> None:
    text = (
        "struct Box { value: Any, n: Int = 0 }\n"
        "fn main() {\n    let mut b: Any = 1;\n    for _ in 0..100000 { b = Box { value: b }; }\n"
        "    let mut one = Box { value: b };\n    let mut other = one;\n    other.n = 5;\n    one.n += 1;\n"
        '    println("${one.n} ${other.n}");\n}\n'
    )
    found = outcomes({"main.conc": text})
    assert found["python"].stdout == "1 5\n" and agree(found)

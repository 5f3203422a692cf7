"""Programs that share nothing copy nothing; time is measured in `tests/bench/copying.py`."""

from __future__ import annotations

import pytest

from concerto.compiler import compile_source
from tests.bench.copying import PROGRAMS, copies
from tests.bench.execution import work_of


@pytest.mark.parametrize("title", PROGRAMS)
def test_only_what_is_shared_is_copied(title: str) -> None:
    work = work_of(compile_source(PROGRAMS[title]).module)
    assert copies(work, 200) == (1 if title == "shared" else 0)

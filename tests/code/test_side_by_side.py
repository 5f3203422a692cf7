"""Programs of models in one process at once: what one may hold takes nothing from the others."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from concerto.deep_threads import start_deep
from concerto.runtime.run.memory_limit import memory_limited
from tests.code.shop import run_programs

resource = pytest.importorskip("resource", reason="there are no limits of processes here")
PROGRAM = (
    'let mut n = 0; for i in 0..2000 { n += 1; } n + (0..100000).to_array().len() + Shop::orders("a").len()'
)


def limit() -> int:
    return int(resource.getrlimit(resource.RLIMIT_DATA)[0])


def test_the_process_is_limited_as_before_when_all_are_through() -> None:
    before, usual = limit(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(12) as pool:
            told = [each.result() for each in [pool.submit(run_programs, PROGRAM) for _ in range(36)]]
    finally:
        sys.setswitchinterval(usual)
    results = [each.results[0] for each in told]
    assert [each for each in results if each.get("value") != 102_002] == []
    assert limit() == before


@pytest.mark.skipif(sys.platform != "linux", reason="the system cannot limit what is written to")
def test_who_comes_meanwhile_has_a_stack() -> None:
    before, going_on = limit(), threading.Event()

    def wait() -> None:
        going_on.wait(300)

    with memory_limited(64, shared=True):
        held = limit()
        works = [start_deep(wait, "another") for _ in range(6)]
        # Threads of other tests that wait for more work have their stacks.
        while limit() == held and len(works) < 100:
            works.append(start_deep(wait, "another"))
        assert limit() > held > 0
        with memory_limited(1, shared=True):
            works.append(start_deep(wait, "another"))
        held = limit()
        works.append(start_deep(wait, "another"))
        assert limit() > held
    assert limit() == before
    going_on.set()
    for work in works:
        work.join()

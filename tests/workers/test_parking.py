"""Runs that stop when all they do is wait for long."""

from __future__ import annotations

import asyncio
import io
import itertools
import time
from pathlib import Path

import pytest

from concerto import RunStore, compile_source, open_store
from concerto.runtime.run import parking
from concerto.runtime.run.options import RunOptions
from concerto.runtime.run.reporting import RunResult

QUICK = RunOptions(parks=True, output=io.StringIO(), errors=io.StringIO())


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunStore:
    monkeypatch.setattr(parking, "SHORT", 0.3)
    return open_store(tmp_path / "runs.db")


def go_on(store: RunStore, run: str) -> RunResult:
    return store.resume(run, options=QUICK)


def later(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many seconds pass for runs and their store."""
    now = time.time
    monkeypatch.setattr("concerto.journal.store.time", lambda: now() + seconds)


def test_a_long_sleep_stops_the_run_and_counts_from_its_first_beginning(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_source(
        "use std::time; fn main() -> Result<Int, String> { time::sleep(900000); time::sleep(100); Ok(7) }"
    )
    run = store.enlist(program, RunOptions(wait=True))
    assert store.get(run).status == "queued"
    assert go_on(store, run).status == 3
    [waits] = store.get(run).waits_for
    assert (waits["kind"], waits["arguments"]) == ("sleep", {"seconds": 900})
    later(901, monkeypatch)
    assert go_on(store, run).value == 7


def test_times_of_a_run_are_by_the_clock_that_all_machines_share(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = store.enlist(compile_source("use std::time; fn main() { time::sleep(900000); }"), RunOptions())
    monkeypatch.setattr("concerto.journal.store.time", lambda: time.time() + 3600)
    monkeypatch.setattr(store.store.database, "ahead", -3600.0)
    assert go_on(store, run).status == 3
    [row] = store.effects(run)
    assert abs(time.time() - row.begun) < 1800
    assert abs(time.time() - store.get(run).updated) < 1800


def test_a_sleep_is_as_long_while_the_clock_is_set_back(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = (time.time() - 10 * each for each in itertools.count())
    monkeypatch.setattr("concerto.runtime.run.parking.time", lambda: next(back), raising=False)
    program = compile_source("use std::time; fn main() -> Result<Int, String> { time::sleep(100); Ok(7) }")
    assert go_on(store, store.enlist(program, RunOptions())).value == 7


def test_a_run_stops_when_no_branch_does_anything_else(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_source("""
        use std::time;
        fn main() -> Result<Any, Any> {
            let (asked, slept, worked) = await (ask(), slow(900000), slow(200));
            Ok([asked?, slept, worked])
        }
        fn ask() -> Result<Any, EmitError> { await emit("sure", 1) }
        fn slow(n: Int) -> Int { time::sleep(n); n }
    """)
    run = store.enlist(program, RunOptions(wait=True))
    assert go_on(store, run).status == 3
    kinds = {each["kind"] for each in store.get(run).waits_for}
    assert kinds == {"emit", "sleep"}
    done = [row.state for row in store.effects(run) if row.kind == "Sleep"]
    assert sorted(done) == ["asked", "done"], "the short one was waited for"
    later(901, monkeypatch)
    store.answer(run, answers={"sure": True})
    assert go_on(store, run).value == [True, 900000, 200]


def test_a_call_that_is_executed_outside_cuts_nothing_off(store: RunStore) -> None:
    program = compile_source("""
        use std::time;
        tool Desk {
            description: "d",
            @describe("Asks") pub fn ask() -> Int;
            @describe("Works") pub fn work() -> Int;
        }
        fn ask() -> Int { time::sleep(50); Desk::ask() }
        fn main() -> Result<Any, Any> { let (n, m) = await (ask(), Desk::work()); Ok([n, m]) }
    """)

    async def work(given: object) -> int:
        await asyncio.sleep(0.5)
        return 2

    run = store.enlist(program, RunOptions(wait=True))
    options = RunOptions(parks=True, handlers={"tool:Desk::work": work}, errors=io.StringIO())
    assert store.resume(run, options=options).status == 3
    [waiting] = store.get(run).waits_for
    assert (waiting["kind"], waiting["name"]) == ("call", "Desk::ask")
    assert store.resume(run, results={waiting["call_id"]: 1}, options=options).value == [1, 2]

"""Runs that stop while tasks of theirs go on: how these end is no part of their order when they go on."""

from __future__ import annotations

import asyncio
import io
import threading
from collections import Counter
from typing import Any

import pytest

from concerto import RunStore, Runtime, compile_source, open_store
from concerto.journal.settling import Decision
from concerto.runtime.run.options import RunOptions

TOOLS = """
use std::time;
tool Desk {
    description: "d",
    @describe("Asks") @param("what", "what") pub fn ask(what: String) -> Int;
    @describe("Does") @param("what", "what") pub fn work(what: String) -> Int;
}
fn slow(what: String, ms: Int) -> Int { time::sleep(ms); Desk::work(what) }
fn asks(what: String, ms: Int) -> Int { time::sleep(ms); Desk::ask(what) }
fn nest(n: Int) -> Int {
    let task = spawn slow("in${n}", 15);
    asks("q${n}", 5 * n) + task.await
}
"""
PROGRAMS = {
    "several ask": """let late = spawn slow("late", 40);
        let (a, b) = await (Desk::ask("a"), Desk::ask("b")); println(a + b + late.await);""",
    "tasks in branches": """let late = spawn slow("late", 40);
        let all = await (nest(1), nest(2), slow("other", 10)); println("${all} ${late.await}");""",
    "a task asks": """let task = spawn nest(1); println(Desk::work("x")); println(slow("y", 20));
        println(task.await);""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("stopped_after", [None, 0.012, 0.02, 0.03])
def test_a_run_goes_on_wherever_it_was_stopped(name: str, stopped_after: float | None) -> None:
    program = compile_source(f"{TOOLS}\nfn main() {{ {PROGRAMS[name]} }}")
    done: Counter[str] = Counter()

    async def work(given: Any) -> int:
        await asyncio.sleep(0.004)
        done[given["what"]] += 1
        return 1

    options = RunOptions(handlers={"tool:Desk::work": work}, errors=io.StringIO(), output=io.StringIO())
    runs = open_store("sqlite::memory:")
    runtime = runs.begin(program, options)
    run = runtime.run_id
    for _ in range(20):
        stop = threading.Timer(stopped_after or 60, runtime.stop)
        stop.start()
        runtime.run()
        stop.cancel()
        if runs.get(run).status not in ("waiting", "interrupted", "unknown"):
            break
        stopped_after = stopped_after and stopped_after * 1.5
        runtime = _go_on(runs, run, done, options)
    assert runs.get(run).status == "done", runs.store.run(run).result
    assert set(done.values()) == {1}


def _go_on(runs: RunStore, run: str, done: Counter[str], options: RunOptions) -> Runtime:
    """Answer what nobody does here, and decide by what was done."""
    waiting = runs.get(run).waits_for
    # What is to be done again and has not begun is a call too.
    results = {each["call_id"]: 1 for each in waiting if each["name"] == "Desk::ask"}
    decisions = [
        Decision(each["effect"], "happened", 1)
        if done[each["arguments"]["what"]]
        else Decision(each["effect"], "repeat")
        for each in waiting
        if each["kind"] == "unknown"
    ]
    return runs.going_on(run, results, {}, decisions, options)


@pytest.mark.parametrize(("body", "status"), [("println(1);", "done"), ('panic("x");', "failed")])
def test_a_run_that_goes_on_and_does_nothing_has_ended(body: str, status: str) -> None:
    runs = open_store("sqlite::memory:")
    run = runs.enlist(compile_source(f"fn main() {{ {body} }}"), RunOptions())
    runs.resume(run, errors=io.StringIO(), output=io.StringIO())
    assert runs.get(run).status == status

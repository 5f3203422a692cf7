"""A thousand branches with random failures and cancellations, ten times: nothing is left of them."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path

import pytest

from tests.runtime.running import make_runtime
from tests.runtime.servers import ModelServer

BRANCHES = 1000
SOURCE = """
use std::time;
use std::math;

hashmap seen: HashMap<Int, Int> = HashMap::new();
ledger notes: Ledger = Ledger::new();

tool Counter {
    description: "Counts",
    count: Int = 0,
    @describe("One more")
    pub fn next(mut self) -> Int { self.count += 1; self.count }
}

agent Talker { provider: openai, model: "m" }

fn endless() -> Int { time::sleep(600000); 0 }

fn fail(n: Int) -> Int {
    let none: Array<Int> = [];
    none[n]
}

pipeline Stages {
    @timeout(seconds: 30)
    stage wait(n: Int) -> Int { time::sleep(n % 3); n }
    stage count(n: Int) -> Result<Int, String> { if n % 5 == 0 { Err("five") } else { Ok(n) } }
}

fn one(n: Int) -> Int {
    seen.set(n, n);
    match math::random_int(0, 8) {
        0 => fail(n),
        1 => race (endless(), fail(n), time_of(n)),
        2 => {
            let task = spawn endless();
            task.cancel();
            n
        }
        3 => {
            spawn endless();
            fail(n)
        }
        4 => Stages.run(n).unwrap_or(0),
        5 => {
            let (a, b) = await (time_of(n), Counter.next());
            a + b
        }
        6 if n % 5 == 0 => Talker.execute("${n}").unwrap().text.len(),
        7 => {
            let parts = parallel for part in 0..4, limit: 2 { time_of(part) };
            notes.insert("entry ${n}", ["n"], "${parts}");
            parts.sum()
        }
        _ => time_of(n),
    }
}

fn time_of(n: Int) -> Int {
    time::sleep(n % 7);
    n
}

fn attempt(n: Int) -> Int {
    try { one(n) } catch { -1 }
}

fn main() {
    let each = parallel for n in 0..BRANCHES, limit: 300 { attempt(n) };
    println(each.len());
    // The first failure cancels all others.
    let together = try {
        parallel for n in 0..BRANCHES { if n == 700 { fail(n) } else { endless() } }
    } catch {
        []
    };
    println(together.len());
    println(race (endless(), time_of(3), endless()));
    let tasks = parallel for _n in 0..100 { spawn endless() };
    for task in tasks { task.cancel(); }
    println(seen.len());
}
"""


def left_behind() -> tuple[int, int, int]:
    """Threads, open files, and tasks of event loops that somebody still knows of."""
    gc.collect()
    tasks = [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and not each.done()]
    return threading.active_count(), len(list(Path("/proc/self/fd").iterdir())), len(tasks)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_of_a_thousand_branches(
    model_server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    source = SOURCE.replace("BRANCHES", str(BRANCHES))
    connections = {"openai": model_server.connection("openai")}
    before: tuple[int, int, int] | None = None
    for _ in range(10):
        runtime = make_runtime(source, connections, quiet=True, environment={"OPENAI_API_KEY": "k"})
        status = runtime.run()
        out, err = capsys.readouterr()
        assert status == 0, err
        assert out.splitlines() == [str(BRANCHES), "0", "3", str(BRANCHES)]
        assert err == ""
        del runtime
        after = left_behind()
        # The first run loads what stays loaded.
        assert before is None or after <= before, (before, after)
        before = after

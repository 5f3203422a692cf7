"""A thousand branches with random failures and cancellations, ten times: nothing is left of them."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.manifest.models import Manifest
from concerto.program import Program, Runtime
from tests.hosts.running import WORKER
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

host Worker { connector: worker }

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

pipeline Outer {
    stage both(n: Int) -> Result<Int, String> {
        let (a, b) = await (Stages.run(n)?, race (endless(), time_of(n)));
        Ok(a + b)
    }
    stage all(n: Int) -> Result<Array<Int>, String> {
        Ok(parallel for part in 0..3 { if part == n % 4 { throw "part" } time_of(part) })
    }
}

// A thrown Err cancels what runs beside it.
fn thrown(n: Int) -> Result<Int, String> {
    let task = spawn { time_of(n); if n % 2 == 0 { throw "even" } Ok(n) };
    let (a, b) = await (endless(), if n % 3 == 0 { Err("three") } else { task.await }?);
    Ok(a + b)
}

fn one(n: Int) -> Int {
    seen.set(n, n);
    match math::random_int(0, 13) {
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
        8 if n % 3 == 0 => thrown(n).unwrap_or(-2),
        9 => (parallel for part in 0..3 { race (endless(), time_of(part), fail_later(n)) }).sum(),
        10 => Outer.run(n).map(|parts| parts.sum()).unwrap_or(-3),
        11 if n % 20 == 0 => race (Worker.execute("number").unwrap().text.len(), endless()),
        12 => {
            let tasks = parallel for part in 0..3 {
                spawn { if part == 2 { throw "two" } Ok(time_of(part)) }
            };
            tasks.map(|task| task.await.unwrap_or(0)).sum()
        }
        _ => time_of(n),
    }
}

fn fail_later(n: Int) -> Int {
    time::sleep(n % 5);
    fail(n)
}

fn time_of(n: Int) -> Int {
    time::sleep(n % 7);
    n
}

fn attempt(n: Int) -> Int {
    try { one(n) } catch { -1 }
}

fn main() {
    Worker.execute("number").unwrap();
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


def left_behind() -> tuple[int, ...]:
    """Threads, open files, child processes, and tasks of event loops that somebody still knows of."""
    gc.collect()
    # One that waits a moment for more work (`concerto/deep_threads.py`) is there or just gone.
    threads = [each for each in threading.enumerate() if each.name != "idle"]
    tasks = [each for each in gc.get_objects() if isinstance(each, asyncio.Task) and not each.done()]
    children = sum(len(each.read_text().split()) for each in Path("/proc/self/task").glob("*/children"))
    return len(threads), len(list(Path("/proc/self/fd").iterdir())), children, len(tasks)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_of_a_thousand_branches(
    tmp_path: Path, model_server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {
        "connections.openai": model_server.connection("openai"),
        "hosts.worker": {"command": sys.executable, "args": [str(WORKER)]},
    }
    program, manifest = project(tmp_path, tables)
    before: tuple[int, ...] | None = None
    for _ in range(5):
        runtime = Runtime(program, manifest=manifest, quiet=True, environment={"OPENAI_API_KEY": "k"})
        status = runtime.run().status
        out, err = capsys.readouterr()
        assert status == 0, err
        assert out.splitlines() == [str(BRANCHES), "0", "3", str(BRANCHES)]
        assert err == ""
        del runtime
        after = left_behind()
        # The first run loads what stays loaded.
        if before is not None:
            assert all(now <= then for now, then in zip(after, before, strict=True)), (before, after)
        before = after


def project(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> tuple[Program, Manifest]:
    """The program in a folder, with its manifest."""
    lines = [
        line
        for name, table in tables.items()
        for line in (f"[{name}]", *[f"{key} = {json.dumps(value)}" for key, value in table.items()])
    ]
    (folder / "Concerto.toml").write_text("\n".join(lines))
    (folder / "main.conc").write_text(SOURCE.replace("BRANCHES", str(BRANCHES)))
    return compile_file(folder / "main.conc"), load_manifest(folder / "Concerto.toml")

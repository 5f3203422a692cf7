"""What workers cost: effects in a second, how long a run waits for a worker, and an idle worker's CPU.

`python -m tests.workers.figures` prints them, with a database of its own that keeps what it has written
(fsync). An effect is a call of a tool with its two entries in the journal; of five one must not be repeated,
so its entries are on the disk before it begins and before its answer counts. With `http` the tool asks a
server in this process, with `python` it is a function in the worker. Where others use the machine, what an
effect costs in CPU says more than how many there were in a second.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from concerto.workers.dispatcher import Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from tests.journal.killing import world
from tests.postgres import server
from tests.workers.killing import READS, SOURCE, WRITES
from tests.workers.processes import Farm

_RUNS, _ALONE, _IDLE = 200, 40, 20.0
_TICKS = os.sysconf("SC_CLK_TCK")
_FUNCTIONS = f"""
tool Desk {{
    description: "A desk",
    @read_only @describe("Read") @param("n", "which") pub fn read(n: Int) -> Int;
    @describe("Write") @param("n", "which") pub fn write(n: Int) -> Int;
}}
fn main(args: Array<String>) -> Result<Nil, Any> {{
    for n in 0..{WRITES} {{
        for m in 0..{READS // WRITES} {{ Desk::read(m); }}
        Desk::write(n);
    }}
    Ok(nil)
}}
"""
_HANDLERS = "HANDLERS = {f'tool:Desk::{name}': lambda asked: 1 for name in ('read', 'write')}\n"


def main() -> None:
    with server(fsync=True) as database, world() as made:
        permissions = '[permissions]\nhttp = ["127.0.0.1"]\n'
        with _folder() as folder, Farm(folder, database.new_database(), _FUNCTIONS) as farm:
            (folder / "handlers.py").write_text(_HANDLERS)
            _throughput("python", farm, _workers(farm, "--handlers", "handlers.py"))
        source = SOURCE.replace("URL", made.url)
        with _folder() as folder, Farm(folder, database.new_database(), source, permissions) as farm:
            workers = _workers(farm)
            _throughput("http", farm, workers)
            _dispatch(farm)
            before = _cpu(workers)
            time.sleep(_IDLE)
            print(f"idle worker: {(_cpu(workers) - before) / len(workers) / _IDLE:.2%} CPU")


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _workers(farm: Farm, *arguments: str) -> list[int]:
    """Two, as soon as they serve."""
    begun = [farm.begin_worker(*arguments), farm.begin_worker(*arguments)]
    with farm.store() as runs:
        dispatcher = PostgresDispatcher(runs.store.database)
        while [each.workers for each in dispatcher.queues()] != [2]:
            time.sleep(0.1)
    return [each.pid for each in begun]


def _throughput(kind: str, farm: Farm, workers: Sequence[int]) -> None:
    effects = _RUNS * (READS + WRITES)
    for number in range(_RUNS):
        farm.submit(str(number), job=Job("", delay=1e6))
    with farm.store() as runs:
        database = runs.store.database
        with database.transaction() as tables:
            [(own,)] = tables.rows("SELECT pg_backend_pid()")
            tables.execute("UPDATE jobs SET due = clock_timestamp()")
        parts = {"workers": workers, "database": _others(own), "this process": [os.getpid()]}
        before = {name: _cpu(processes) for name, processes in parts.items()}
        began = time.monotonic()
        while runs.runs(status="queued") or runs.runs(status="running"):
            time.sleep(0.5)
    seconds = time.monotonic() - began
    used = {name: (_cpu(parts[name]) - before[name]) / effects * 1000 for name in parts}
    shown = ", ".join([f"{each:.2f} ms in {name}" for name, each in used.items()])
    load = os.getloadavg()[0]
    print(
        f"{kind}: {effects / seconds:.0f} effects/s at a load of {load:.1f}; CPU of an effect: {shown}; "
        f"two cores of its own would do {2000 / sum(used.values()):.0f}/s",
        flush=True,
    )


def _dispatch(farm: Farm) -> None:
    """How long runs wait that come alone."""
    for _ in range(_ALONE):
        run = farm.submit("1", job=Job(""))
        farm.wait_for(run, "done")
    with farm.store() as runs, runs.store.database.transaction(reading=True) as tables:
        rows = tables.rows(
            "SELECT extract(epoch FROM jobs.started) - runs.started FROM jobs JOIN runs ON id = run "
            "ORDER BY number DESC LIMIT ?",
            (_ALONE,),
        )
    waits = sorted(float(row[0]) * 1000 for row in rows)
    print(f"a run waits {median(waits):.1f} ms (median), at most {waits[-1]:.1f} ms")


def _others(backend: int) -> list[int]:
    """The processes of a database's server, without the one that serves us."""
    postmaster = _stat(backend)[1]
    found = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [each for each in found if each != backend and _stat(each)[1:2] == [postmaster]]


def _cpu(processes: Sequence[int]) -> float:
    """Seconds of CPU that processes have used."""
    return sum(sum(map(int, _stat(each)[11:13])) for each in processes) / _TICKS


def _stat(process: int) -> list[str]:
    """State, parent and so on; nothing of one that has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


if __name__ == "__main__":
    main()

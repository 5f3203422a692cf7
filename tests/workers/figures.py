"""What workers cost: effects in a second, how long a run waits for a worker, and an idle worker's CPU.

`python -m tests.workers.figures` prints them, with a database of its own that keeps what it has written
(fsync).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
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


def main() -> None:
    with server(fsync=True) as database, world() as made, tempfile.TemporaryDirectory() as folder:
        source, manifest = SOURCE.replace("URL", made.url), '[permissions]\nhttp = ["127.0.0.1"]\n'
        with Farm(Path(folder), database.new_database(), source, manifest) as farm:
            workers = [farm.begin_worker(), farm.begin_worker()]
            with farm.store() as runs:
                dispatcher = PostgresDispatcher(runs.store.database)
                while [each.workers for each in dispatcher.queues()] != [2]:
                    time.sleep(0.1)
            _throughput(farm, workers)
            _dispatch(farm)
            before = _cpu(workers)
            time.sleep(_IDLE)
            print(f"idle worker: {(_cpu(workers) - before) / len(workers) / _IDLE:.2%} CPU")


def _throughput(farm: Farm, workers: Sequence[subprocess.Popen[bytes]]) -> None:
    before, began, effects = _cpu(workers), time.monotonic(), _RUNS * (READS + WRITES)
    for number in range(_RUNS):
        farm.submit(str(number))
    farm.wait(lambda found: all(each.status == "done" for each in found), 600)
    seconds = time.monotonic() - began
    each = (_cpu(workers) - before) / effects * 1000
    print(f"{effects / seconds:.0f} effects/s, each {each:.2f} ms of CPU in the workers")


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


def _cpu(workers: Sequence[subprocess.Popen[bytes]]) -> float:
    """Seconds of CPU that processes have used."""
    used = [Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split()[11:13] for each in workers]
    return sum(int(user) + int(system) for user, system in used) / _TICKS


if __name__ == "__main__":
    main()

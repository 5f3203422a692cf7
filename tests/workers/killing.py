"""Many runs on two workers, one of which is killed at a random moment, or whose database has a bad one.

`python -m tests.workers.killing --rounds 50 --runs 200 --seed 1` prints a row a round, with a server of its
own that keeps what it has written (fsync). A run waits for a person if an effect that must not
be repeated was in flight; who decides here looks whether it was done. With `--fault gone` the database is
stopped for a minute, with `full` its disk is full for half of one (a small tmpfs, which needs root), with
`clocks` one worker's clock is an hour late, the other's an hour early (needs `cc`), and one is killed.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from subprocess import Popen, run
from typing import TypeAlias

from concerto import RunStore, compile_file
from concerto.journal.settling import Decision
from concerto.records import record
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import StoredRun
from concerto.workers.dispatcher import Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from concerto.workers.submitting import answer, submit
from tests.journal.killing import BY_HAND, World, place_of, world
from tests.postgres import Server, server
from tests.workers.processes import Farm

READS, WRITES = 16, 4
SOURCE = f"""
use std::tools::HttpTool;
fn main(args: Array<String>) -> Result<Nil, Any> {{
    for n in 0..{WRITES} {{
        for m in 0..{READS // WRITES} {{ HttpTool.get("URL/read/${{args[0]}}.${{n * {WRITES} + m}}")?; }}
        HttpTool.post("URL/write/${{args[0]}}.${{n}}", {{"n": n}})?;
    }}
    Ok(nil)
}}
"""
_OVER = ("done", "failed", "cancelled", "unknown")


@record(frozen=True)
class Round:
    """What came of one kill. Times are in seconds."""

    runs: int
    killed_after: float
    finished_after: float
    effects_a_second: float
    decided: int
    repeated: int
    lost: int


Hurt: TypeAlias = Callable[[list[Popen[bytes]], random.Random], None]
_GONE, _FULL, _SMALL = 60.0, 30.0, 32
"""Seconds, seconds, and megabytes of a small disk."""


def kill(workers: list[Popen[bytes]], chance: random.Random) -> None:
    workers[chance.randrange(2)].kill()


def kill_once(
    folder: Path,
    url: str,
    made: World,
    runs: int,
    chance: random.Random,
    hurt: Hurt = kill,
    clocks: Sequence[str] = (),
) -> Round:
    manifest = '[permissions]\nhttp = ["127.0.0.1"]\n'
    with Farm(folder, url, SOURCE.replace("URL", made.url), manifest) as farm:
        program = compile_file(folder / "main.conc")
        with farm.store() as store:
            dispatcher = PostgresDispatcher(store.store.database)
            for number in range(runs):
                submit(store, dispatcher, program, RunOptions(args=[str(number)]), Job(""))
        first = [farm.begin_worker(**_clock(each)) for each in clocks or ("", "")]
        farm.wait(lambda found: any(each.status == "done" for each in found))
        began = time.monotonic()
        killed_after = chance.random() * runs / 25
        time.sleep(killed_after)
        hurt(first, chance)
        killed = time.monotonic()
        found = farm.wait(lambda found: all(each.status in _OVER for each in found), 300)
        finished = time.monotonic()
        decided = 0
        made.settle()
        while unknown := [each for each in found if each.status == "unknown"]:
            decided += len(unknown)
            with farm.store() as store:
                for each in unknown:
                    _decide(store, PostgresDispatcher(store.store.database), each, made)
            found = farm.wait(lambda found: all(each.status in _OVER for each in found))
        assert all(each.status == "done" for each in found), farm.log()
        asked = Counter({place: count for place, count in made.asked.items() if "write" in place})
        places = {f"/write/{run}.{n}" for run in range(runs) for n in range(WRITES)}
        reads = [f"/read/{run}.{n}" for run in range(runs) for n in range(READS)]
        lost = len(places - set(asked)) + sum(not made.asked[place] for place in reads)
        return Round(
            runs,
            killed_after,
            finished - killed,
            runs * (READS + WRITES) / (finished - began),
            decided,
            sum(count > 1 for count in asked.values()),
            lost,
        )


def _decide(runs: RunStore, dispatcher: PostgresDispatcher, run: StoredRun, made: World) -> None:
    """What a person does who looks whether it was done."""
    waiting = run.waits_for[0]
    if made.asked[place_of(waiting["arguments"])]:
        decision = Decision(waiting["effect"], "happened", json.loads(BY_HAND))
    else:
        decision = Decision(waiting["effect"], "repeat")
    answer(runs, dispatcher, run.id, {}, {}, [decision])


def _clock(offset: str) -> dict[str, str]:
    """The environment of a process whose clock is so many seconds ahead."""
    return {"LD_PRELOAD": str(_clock_library()), "CLOCK_AHEAD": offset} if offset else {}


_CLOCK = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *found) {
    int status = syscall(SYS_clock_gettime, clock, found);
    if (clock == CLOCK_REALTIME && status == 0) found->tv_sec += atol(getenv("CLOCK_AHEAD"));
    return status;
}
"""


@cache
def _clock_library() -> Path:
    """One that sets the clock by which time is told, and leaves alone the one by which is waited."""
    place = Path(tempfile.mkdtemp()) / "clock.so"
    run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", place], input=_CLOCK.encode(), check=True)
    return place


@contextmanager
def _fault(kind: str, database: Server) -> Iterator[tuple[str, Hurt]]:
    """A new database, and what happens to it or to the workers."""
    if kind == "full":
        with tempfile.TemporaryDirectory() as place, _small_disk(Path(place)) as disk:
            yield database.new_database(disk), lambda *_: _fill(Path(place))
        return

    def leave(*_: object) -> None:
        database.stop()
        time.sleep(_GONE)
        database.start()

    yield database.new_database(), leave if kind == "gone" else kill


@contextmanager
def _small_disk(place: Path) -> Iterator[Path]:
    place.chmod(0o755)
    run(["mount", "-t", "tmpfs", "-o", f"size={_SMALL}m", "none", place], check=True)
    try:
        (place / "tables").mkdir()
        yield place / "tables"
    finally:
        run(["umount", "--lazy", place], check=True)


def _fill(place: Path) -> None:
    """Leave no room for a while."""
    with suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
    time.sleep(_FULL)
    (place / "filler").unlink()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.workers.killing")
    given.add_argument("--rounds", type=int, default=5)
    given.add_argument("--runs", type=int, default=200)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--fault", choices=("kill", "gone", "full", "clocks"), default="kill")
    given.add_argument("--log", action="store_true", help="print what the workers have said")
    options = given.parse_args()
    print("round | runs | killed after s | finished s after the kill | effects/s | decided | repeated | lost")
    with server(fsync=True) as database:
        for number in range(options.rounds):
            chance = random.Random(options.seed + number)
            with (
                world() as made,
                tempfile.TemporaryDirectory() as folder,
                _fault(options.fault, database) as (url, hurt),
            ):
                clocks = ("-3600", "+3600") if options.fault == "clocks" else ()
                came = kill_once(Path(folder) / "p", url, made, options.runs, chance, hurt, clocks)
                if options.log:
                    print("".join([file.read_text() for file in Path(folder).glob("p/worker*.log")]))
            print(
                f"{number + 1:5} | {came.runs:4} | {came.killed_after:14.1f} | {came.finished_after:25.1f} | "
                f"{came.effects_a_second:9.0f} | {came.decided:7} | {came.repeated:8} | {came.lost:4}",
                flush=True,
            )


if __name__ == "__main__":
    main()

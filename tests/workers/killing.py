"""Many runs on two workers, one of which is killed at a random moment.

`python -m tests.workers.killing --rounds 50 --runs 200 --seed 1` prints a row a round, with a server of its
own that keeps what it has written (fsync). A run waits for a person if an effect that must not
be repeated was in flight; who decides here looks whether it was done.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from concerto import RunStore, compile_file
from concerto.journal.settling import Decision
from concerto.records import record
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import StoredRun
from concerto.workers.dispatcher import Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from concerto.workers.submitting import answer, submit
from tests.journal.killing import BY_HAND, World, place_of, world
from tests.postgres import server
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


def kill_once(folder: Path, url: str, made: World, runs: int, chance: random.Random) -> Round:
    manifest = '[permissions]\nhttp = ["127.0.0.1"]\n'
    with Farm(folder, url, SOURCE.replace("URL", made.url), manifest) as farm, farm.store() as store:
        dispatcher = PostgresDispatcher(store.store.database)
        program = compile_file(folder / "main.conc")
        for number in range(runs):
            submit(store, dispatcher, program, RunOptions(args=[str(number)]), Job(""))
        first = [farm.begin_worker(), farm.begin_worker()]
        farm.wait(lambda found: any(each.status == "done" for each in found))
        began = time.monotonic()
        killed_after = chance.random() * runs / 25
        time.sleep(killed_after)
        first[chance.randrange(2)].kill()
        killed = time.monotonic()
        found = farm.wait(lambda found: all(each.status in _OVER for each in found), 300)
        finished = time.monotonic()
        decided = 0
        made.settle()
        while unknown := [each for each in found if each.status == "unknown"]:
            decided += len(unknown)
            for each in unknown:
                _decide(store, dispatcher, each, made)
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


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.workers.killing")
    given.add_argument("--rounds", type=int, default=5)
    given.add_argument("--runs", type=int, default=200)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    print("round | runs | killed after s | finished s after the kill | effects/s | decided | repeated | lost")
    with server(fsync=True) as database:
        for number in range(options.rounds):
            chance = random.Random(options.seed + number)
            with world() as made, tempfile.TemporaryDirectory() as folder:
                came = kill_once(Path(folder) / "p", database.new_database(), made, options.runs, chance)
            print(
                f"{number + 1:5} | {came.runs:4} | {came.killed_after:14.1f} | {came.finished_after:25.1f} | "
                f"{came.effects_a_second:9.0f} | {came.decided:7} | {came.repeated:8} | {came.lost:4}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""How many workers are needed: a simulation of runs that arrive, wait for a worker, and ask models.

`python -m tests.workers.sizing --effects 20 --seconds 1.5 --cpu-ms 5` prints, for so many runs a day, the
fewest workers at which 99 of 100 runs begin within a second in the busiest hour. Runs arrive by chance
(Poisson); an effect first needs its worker's processor, of which there is one, and then takes a time that is
spread log-normally; a run holds one of its worker's places from its first effect to its last.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections import deque
from math import exp

from concerto.records import record

_GOAL = 1.0
"""Seconds within which 99 of 100 runs are to begin."""
_SPREAD = 0.8
"""Of the logarithm of an effect's time: one in twenty takes more than 2.7 times the mean."""


@record(frozen=True)
class Load:
    """Runs a day, of which the share `peak` comes in one hour; each has so many effects of so many `seconds`
    in the mean, and of `cpu` seconds of its worker's processor."""

    runs: float
    peak: float
    effects: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Runs that arrive in a second of the busiest hour."""
        return self.runs * self.peak / 3600


@record(frozen=True)
class Outcome:
    """How long runs waited, sorted, and which share of places and of processors was in use."""

    waits: list[float]
    places: float
    cpu: float

    def wait(self, share: float) -> float:
        return self.waits[min(int(len(self.waits) * share), len(self.waits) - 1)]


def simulate(load: Load, workers: int, places: int, runs: int, chance: random.Random) -> Outcome:
    """What becomes of so many runs, after as many again with which the workers fill."""
    events: list[tuple[float, int, int, int]] = []
    queue: deque[float] = deque()
    free, ready = [places] * workers, [0.0] * workers
    waits: list[float] = []
    held = used = now = begun = 0.0
    arrived = number = 0

    def step(worker: int, left: int) -> None:
        """An effect gets its processor, then takes its time."""
        nonlocal used, number
        begins = max(now, ready[worker])
        ready[worker] = begins + load.cpu
        used += load.cpu
        number += 1
        takes = load.seconds * exp(chance.gauss(-_SPREAD * _SPREAD / 2, _SPREAD))
        heapq.heappush(events, (ready[worker] + takes, number, worker, left - 1))

    heapq.heappush(events, (0.0, 0, -1, 0))
    while len(waits) < 2 * runs:
        before, (now, _, worker, left) = now, heapq.heappop(events)
        if len(waits) > runs:
            held += (now - before) * (workers * places - sum(free))
        if worker < 0:
            arrived += 1
            queue.append(now)
            number += 1
            heapq.heappush(events, (now + chance.expovariate(load.rate), number, -1, 0))
        elif left:
            step(worker, left)
        else:
            free[worker] += 1
        while queue and any(free):
            # The one that has most room is told as soon as any, and claims most.
            chosen = max(range(workers), key=free.__getitem__)
            free[chosen] -= 1
            waits.append(now - queue.popleft())
            if len(waits) == runs:
                begun, used = now, 0.0
            step(chosen, load.effects)
    took = now - begun
    return Outcome(sorted(waits[runs:]), held / took / (workers * places), used / took / workers)


def fewest(load: Load, places: int, runs: int) -> tuple[int, Outcome]:
    """The fewest workers that are enough, and how they do."""
    busy = max(
        load.rate * load.effects * (load.seconds + load.cpu) / places, load.rate * load.effects * load.cpu
    )
    workers = max(1, int(busy))
    while True:
        outcome = simulate(load, workers, places, runs, random.Random(1))
        if outcome.wait(0.99) <= _GOAL and outcome.cpu < 0.8:
            return workers, outcome
        workers += max(1, workers // 50)


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.workers.sizing")
    given.add_argument("--effects", type=int, default=20)
    given.add_argument("--seconds", type=float, default=1.5)
    given.add_argument("--cpu-ms", type=float, default=5.0)
    given.add_argument("--peak", type=float, default=0.1)
    options = given.parse_args()
    print(
        "runs a day | arrive a second | places each | workers | places used | CPU | median wait | 99 of 100"
    )
    for runs in (1_000, 10_000, 100_000, 1_000_000):
        load = Load(runs, options.peak, options.effects, options.seconds, options.cpu_ms / 1000)
        for places in (8, 64):
            workers, found = fewest(load, places, 5000)
            print(
                f"{runs:10,} | {load.rate:11.2f} | {places:11} | {workers:7} | {found.places:11.0%} | "
                f"{found.cpu:3.0%} | {found.wait(0.5):9.2f} s | {found.wait(0.99):7.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""`python -m tests.faults.sweep [--step N] [--wire W] [--form F] [--kind K] [--attempts A] [--seconds S]
[--show VERDICT] [--real]`

One conversation for every kind of fault at every Nth byte of what a model server says (and, for breaks and
delays, of what it is told), on every wire, plain and streamed. Many are led at once with a recording of the
real server; with `--real`, one after the other with the server itself. Prints what came of them; the exit
status is 1 if anything is WRONG.
"""

from __future__ import annotations

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.faults.proxy import FaultyProxy
from tests.faults.replaying import Exchange, Replay, exchanges
from tests.faults.spoiling import FAULTS, Fault
from tests.faults.talking import FORMS, WIRES, Outcome, Talk, held
from tests.harness.complaints import complaints_of_asyncio
from tests.runtime.servers import model_server_process

VERDICTS = ("right", "error", "changed", "WRONG")
_IN_REQUESTS = ("delay", "close", "reset")
"""Kinds that are tried in requests too: the server itself has to notice all others."""
_AT_ONCE = 24


def main() -> int:
    options = _options()
    counts = Counts(options.show)
    begun = time.monotonic()
    with model_server_process() as server, FaultyProxy(server.url).running() as proxy:
        for wire in options.wire or WIRES:
            for form in options.form or FORMS:
                talk = Talk(server, wire, form, options.attempts)
                plain = talk.with_server(proxy, None)
                assert plain.verdict == "right", (wire, form, plain)
                chosen = faults(proxy.spoiler.passed, options.step, options.kind)
                timely = until(begun + options.seconds, chosen)
                counts.place = f"{wire} {form}"
                if options.real:
                    for fault in timely:
                        counts.add(fault, talk.with_server(proxy, fault))
                else:
                    replay_all(talk, exchanges(proxy.spoken), timely, counts)
    counts.print_table()
    print(f"{sum(counts.of.values())} conversations in {time.monotonic() - begun:.0f} seconds")
    return 1 if counts.wrong else 0


class Counts:
    """Conversations by fault and verdict; what is WRONG is printed at once."""

    def __init__(self, shown: Sequence[str] = ()) -> None:
        self._shown = {"WRONG", *shown}
        self.of: Counter[tuple[str, str]] = Counter()
        self.wrong = 0
        self.place = ""

    def add(self, fault: Fault, outcome: Outcome) -> None:
        row = f"{fault.kind}, in requests" if fault.in_request else fault.kind
        self.of[row, outcome.verdict] += 1
        self.wrong += outcome.verdict == "WRONG"
        if outcome.verdict in self._shown:
            self._tell(outcome.verdict, f"{fault}: {outcome.lines} {outcome.errors}")

    def add_wrong(self, what: str) -> None:
        self.wrong += 1
        self._tell("WRONG", what)

    def _tell(self, verdict: str, what: str) -> None:
        print(f"{verdict} {self.place} {what}", flush=True)

    def print_table(self) -> None:
        print("| fault |", " | ".join(VERDICTS), "|\n|---|" + "---|" * len(VERDICTS))
        for row in dict.fromkeys(row for row, _ in self.of):
            print(f"| {row} |", " | ".join(str(self.of[row, verdict]) for verdict in VERDICTS), "|")


def faults(passed: dict[bool, int], step: int, kinds: Sequence[str] = ()) -> list[Fault]:
    """Every kind at every `step`th of so many bytes of requests (True) and answers (False), in the order of
    places. Kinds begin at different bytes."""
    chosen = [
        Fault(kind, at, in_request)
        for number, kind in enumerate(kinds or FAULTS)
        for in_request in ((False, True) if kind in _IN_REQUESTS else (False,))
        for at in range(number % step, passed[in_request], step)
    ]
    return sorted(chosen, key=lambda fault: fault.at)


def replay_all(talk: Talk, recording: Sequence[Exchange], chosen: Iterator[Fault], counts: Counts) -> None:
    """A conversation for each fault, many at once. Together they leave nothing open."""
    before = held()
    with complaints_of_asyncio() as complaints:
        left = asyncio.run(_replay_all(talk, recording, chosen, counts))
    if held() != before or left:
        counts.add_wrong(f"left behind: {held()} after {before}, tasks: {left}")
    for complaint in complaints:
        counts.add_wrong(complaint)


async def _replay_all(
    talk: Talk, recording: Sequence[Exchange], chosen: Iterator[Fault], counts: Counts
) -> list[str]:
    """The tasks that are left."""

    async def work() -> None:
        async with Replay(recording).listening() as replay:
            for fault in chosen:
                counts.add(fault, await talk.with_replay(replay, fault))

    await asyncio.gather(*[work() for _ in range(_AT_ONCE)])
    return [str(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def until(end: float, chosen: Sequence[Fault]) -> Iterator[Fault]:
    for fault in chosen:
        if time.monotonic() > end:
            return
        yield fault


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.faults.sweep")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--wire", action="append", choices=WIRES)
    parser.add_argument("--form", action="append", choices=FORMS)
    parser.add_argument("--kind", action="append", choices=FAULTS)
    parser.add_argument("--attempts", type=int, default=1, help="how often a request is tried")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--show", action="append", choices=VERDICTS, default=[])
    parser.add_argument("--real", action="store_true", help="with the real server each time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

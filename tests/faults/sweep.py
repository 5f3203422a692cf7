"""`python -m tests.faults.sweep [--step N] [--wire W] [--kind K] [--seconds S]`: one conversation for every
kind of fault at every Nth byte of what a model server says (and, for breaks and delays, of what it is
told), on every wire, plain and streamed. Prints what came of them; the exit status is 1 if anything is WRONG.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from tests.faults.proxy import FAULTS, Fault, FaultyProxy
from tests.faults.talking import FORMS, WIRES, Outcome, Talk
from tests.runtime.servers import model_server_process

VERDICTS = ("right", "error", "changed", "WRONG")
_IN_REQUESTS = ("delay", "close", "reset")
"""Kinds that are tried in requests too: the server itself has to notice all others."""


def main() -> int:
    options = _options()
    counts: Counter[tuple[str, str]] = Counter()
    ends = time.monotonic() + options.seconds
    with model_server_process() as server, FaultyProxy(server.url).running() as proxy:
        for wire in options.wire or WIRES:
            for form in FORMS:
                talk = Talk(server, proxy, wire, form)
                assert talk.run(None).verdict == "right", (wire, form)
                for fault in faults(proxy.length, proxy.asked, options.step, options.kind):
                    if time.monotonic() > ends:
                        break
                    outcome = talk.run(fault)
                    counts[_row(fault), outcome.verdict] += 1
                    if outcome.verdict == "WRONG":
                        _tell(wire, form, fault, outcome)
    _print_table(counts)
    return 1 if any(verdict == "WRONG" for _, verdict in counts) else 0


def faults(said: int, asked: int, step: int, kinds: Sequence[str] = ()) -> Iterator[Fault]:
    """Every kind at every `step`th byte of so many. Kinds begin at different bytes."""
    for number, kind in enumerate(kinds or FAULTS):
        for at in range(number % step, said, step):
            yield Fault(kind, at)
        if kind in _IN_REQUESTS:
            for at in range(number % step, asked, step):
                yield Fault(kind, at, in_request=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.sweep")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--wire", action="append", choices=WIRES)
    parser.add_argument("--kind", action="append", choices=FAULTS)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    return parser.parse_args()


def _row(fault: Fault) -> str:
    return f"{fault.kind}, in requests" if fault.in_request else fault.kind


def _tell(wire: str, form: str, fault: Fault, outcome: Outcome) -> None:
    print(f"WRONG {wire} {form} {fault}: {outcome.lines} {outcome.errors}", flush=True)


def _print_table(counts: Counter[tuple[str, str]]) -> None:
    print("| fault |", " | ".join(VERDICTS), "|\n|---|" + "---|" * len(VERDICTS))
    for row in dict.fromkeys(row for row, _ in counts):
        print(f"| {row} |", " | ".join(str(counts[row, verdict]) for verdict in VERDICTS), "|")


if __name__ == "__main__":
    sys.exit(main())

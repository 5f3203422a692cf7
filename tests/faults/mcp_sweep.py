"""`python -m tests.faults.mcp_sweep [--step N] [--transport T] [--kind K] [--seconds S] [--show VERDICT]`

As `tests.faults.sweep`, of conversations with an MCP server: with the server itself over HTTP and SSE, with
what it once said over stdio, where every conversation starts a process.
"""

from __future__ import annotations

import asyncio
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence

from tests.faults.mcp_talking import Way, talk, ways
from tests.faults.spoiling import FAULTS, Fault
from tests.faults.sweep import VERDICTS, Counts, faults, until
from tests.faults.talking import held
from tests.harness.complaints import complaints_of_asyncio

TRANSPORTS = ("http", "sse", "stdio")
_AT_ONCE = 6


def main() -> int:
    options = _options()
    counts = Counts(options.show)
    begun = time.monotonic()
    for transport in options.transport or TRANSPORTS:
        with ways(transport, _AT_ONCE) as there:
            counts.place = transport
            plain = asyncio.run(talk(there[0], None))
            assert plain.verdict == "right", (transport, plain)
            chosen = faults(there[0].passed, options.step, options.kind)
            talk_all(there, until(begun + options.seconds, chosen), counts)
    counts.print_table()
    print(f"{sum(counts.of.values())} conversations in {time.monotonic() - begun:.0f} seconds")
    return 1 if counts.wrong else 0


def talk_all(there: Sequence[Way], chosen: Iterator[Fault], counts: Counts) -> None:
    """A conversation for each fault, one at a time on each way. Together they leave nothing open."""
    before = held()
    with complaints_of_asyncio() as complaints:
        left = asyncio.run(_talk_all(there, chosen, counts))
    if held() != before or left:
        counts.add_wrong(f"left behind: {held()} after {before}, tasks: {left}")
    for complaint in complaints:
        counts.add_wrong(complaint)


async def _talk_all(there: Sequence[Way], chosen: Iterator[Fault], counts: Counts) -> list[str]:
    async def work(way: Way) -> None:
        for fault in chosen:
            counts.add(fault, await talk(way, fault))

    await asyncio.gather(*[work(way) for way in there])
    return [str(task) for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.faults.mcp_sweep")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--transport", action="append", choices=TRANSPORTS)
    parser.add_argument("--kind", action="append", choices=FAULTS)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--show", action="append", choices=VERDICTS, default=[])
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

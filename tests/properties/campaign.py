"""Tries the properties, those of `tests/fuzz` among them, on many random cases:
`python -m tests.properties.campaign --cases 20000 --seed 7`.

With `--coverage` it counts which constructs stand in which places of that many programs and runs none.

Case n of seed s is always the same. Prints what was tried and what failed; texts that show a failure are
written to the folder named by `--keep`. A case that takes longer than `--limit` ends the campaign, which says
where it hangs."""

from __future__ import annotations

import faulthandler
import gc
import os
import sys
import threading
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.checks import CHECKS as HOSTILE
from tests.properties.checks import CHECKS as PROPERTIES
from tests.properties.checks import Broken
from tests.properties.coverage import count_pairs, report

CHECKS = {**PROPERTIES, **HOSTILE}

_STACK = 512 * 1024 * 1024


@dataclass
class _Case:
    """The case that is being tried, and since when."""

    name: str
    number: int
    begun: float


def main() -> int:
    options = _options()
    if options.coverage:
        first, last = options.first, options.first + options.cases
        counted = count_pairs(f"{options.seed}:runs:{case}" for case in range(first, last))
        print("\n".join(report(counted, enough=50)))
        return 0
    failures: list[str] = []
    under_way = _Case("", 0, time.monotonic())
    threading.stack_size(_STACK)
    sys.setrecursionlimit(200_000)
    worker = threading.Thread(target=_campaign, args=(options, failures, under_way), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(1)
        if time.monotonic() - under_way.begun > options.limit:
            print(f"{under_way.name} case {under_way.number} of seed {options.seed} hangs", flush=True)
            faulthandler.dump_traceback()
            os._exit(1)
    return 1 if failures else 0


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.properties.campaign")
    parser.add_argument("--cases", type=int, default=1000, help="how many for each property")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=sorted(CHECKS), action="append", help="these properties alone")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one case")
    parser.add_argument("--coverage", action="store_true", help="count what random programs are made of")
    parser.add_argument("--keep", type=Path, help="a folder for the texts of failures")
    return parser.parse_args()


def _campaign(options: Namespace, failures: list[str], under_way: _Case) -> None:
    # The library is never freed, and a program is garbage as a whole.
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    for name in options.only or CHECKS:
        before, start = len(failures), time.process_time()
        notes: Counter[str] = Counter()
        for case in range(options.first, options.first + options.cases):
            under_way.name, under_way.number, under_way.begun = name, case, time.monotonic()
            try:
                note = CHECKS[name](Random(f"{options.seed}:{name}:{case}"))
                notes.update([note] if note else ())
            except Exception as error:
                failures.append(f"{name} case {case}")
                print(f"{name} case {case} of seed {options.seed}: {error!r:.2000}", flush=True)
                if options.keep is not None and isinstance(error, Broken):
                    options.keep.mkdir(parents=True, exist_ok=True)
                    kept = options.keep / f"{name}_{options.seed}_{case}.conc"
                    kept.write_text(error.text, encoding="utf-8", errors="surrogatepass")
        seconds = time.process_time() - start
        print(
            f"{name}: seed {options.seed}, cases {options.first} to {options.first + options.cases - 1}, "
            f"{len(failures) - before} failures, {seconds:.0f} s of CPU"
            + "".join(f", {count} {note}" for note, count in sorted(notes.items())),
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())

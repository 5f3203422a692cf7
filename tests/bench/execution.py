"""How long programs run beside the same programs in hand-written Python: `python -m tests.bench.execution
[FOLDER …] [NAME …]`.

Every `NAME.conc` has a `work` that gives the value of the `work` in `NAME.py`. Both run in turn in one
process, the best CPU time of each counts, and the memory that `work` had at its peak. Overflow checks and
polling for cancellation are on, as always. The folders: `programs` has a construct a program, `everyday` what
users write, and `set_aside` the same kinds of programs, which nothing was tuned for: who looks for what makes
one of them slow moves them to `everyday` and writes others.
"""

from __future__ import annotations

import math
import platform
import sys
import tracemalloc
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from time import process_time
from typing import Any, cast

from concerto.compiler import compile_file
from concerto.ir.module import ModuleIR
from concerto.vm.host import Host
from concerto.vm.machine import Machine

FOLDERS = {name: Path(__file__).parent / name for name in ("programs", "everyday", "set_aside")}

ROUNDS = 7


class _NoHost:
    """The programs ask nothing of the world."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def refuse(*_: Any) -> Any:
            raise AssertionError(f"a benchmark uses {name}")

        return refuse


def main(arguments: list[str]) -> None:
    names = [each for each in arguments if each not in FOLDERS]
    everything = []
    print(f"Python {platform.python_version()}")
    for folder in [each for each in FOLDERS if each in arguments] or FOLDERS:
        everything += _compare(folder, names)
    if everything:
        _show_mean("all", everything)


def _compare(folder: str, names: list[str]) -> list[float]:
    ratios = []
    paths = [path for path in sorted(FOLDERS[folder].glob("*.conc")) if not names or path.stem in names]
    if paths:
        print(f"\n{folder:<14}{'Python ms':>11}{'Concerto ms':>13}{'ratio':>8}", end="")
        print(f"{'Python KiB':>13}{'Concerto KiB':>14}")
    for path in paths:
        works = _python_work(path), _concerto_work(path)
        python, concerto = measure(*works)
        ratios.append(concerto / python)
        print(f"{path.stem:<14}{python * 1000:>11.2f}{concerto * 1000:>13.2f}{ratios[-1]:>8.2f}", end="")
        print(f"{peak(works[0]):>13.0f}{peak(works[1]):>14.0f}", flush=True)
    if paths:
        _show_mean(folder, ratios)
    return ratios


def _show_mean(what: str, ratios: list[float]) -> None:
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{f'geometric mean, {what}':<38}{mean:>8.2f}   worst {max(ratios):.2f}")


def measure(python: Callable[[], Any], concerto: Callable[[], Any]) -> tuple[float, float]:
    """The best times of two functions that give the same."""
    assert python() == concerto()
    best = [math.inf, math.inf]
    for _ in range(ROUNDS):
        for place, work in enumerate((python, concerto)):
            start = process_time()
            work()
            best[place] = min(best[place], process_time() - start)
    return best[0], best[1]


def peak(work: Callable[[], Any]) -> float:
    """How many KiB of objects a function had at once."""
    tracemalloc.start()
    work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1024


def _python_work(path: Path) -> Callable[[], Any]:
    spec = spec_from_file_location(f"bench_{path.stem}", path.with_suffix(".py"))
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    work: Callable[[], Any] = module.work
    return work


def _concerto_work(path: Path) -> Callable[[], Any]:
    return work_of(compile_file(path).module)


def work_of(module: ModuleIR) -> Callable[..., Any]:
    """The function `work` of a program."""
    machine = Machine(module, cast(Host, _NoHost()))
    index = next(index for index, function in enumerate(module.functions) if function.name == "work")
    return machine.function(index)


if __name__ == "__main__":
    main(sys.argv[1:])

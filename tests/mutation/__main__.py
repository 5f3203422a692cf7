"""`python -m tests.mutation --changes 300 --seed 1`: breaks the compiler in that many ways, each in a
process of its own, and reports what nobody notices.

The programs that reach the changed line are run, the quickest first, then random ones that do, which must
do what they did where the oracle and both tiers agreed; then the kept texts, then the unit tests of the part.
The first difference ends a change's turn, and so does a limit of time or memory. `equivalent.toml` explains
changes that change nothing. What was found is kept (`--kept`), so that a run goes on where it was
interrupted and asks again only of what survived or was edited. Exit status 1 if too few were noticed."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import pickle
import shutil
import sys
import tempfile
import tomllib
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.mutation.changes import Change, changes_of
from tests.mutation.forking import end_group, in_a_process, result, start
from tests.mutation.importing import ROOT
from tests.mutation.judging import judge
from tests.mutation.patching import caches, can_patch, functions
from tests.mutation.programs import Known, gather, that_reach, warm_up

_EXPLAINED = Path(__file__).parent / "equivalent.toml"

# Where meaning is decided, with the tests that know the part best.
_PARTS: dict[str, tuple[str, ...]] = {
    "concerto/emit/**/*.py": ("tests/emit",),
    "concerto/emit/calls.py": ("tests/mcp/test_real_servers.py",),
    "concerto/emit/declarative/exports.py": ("tests/api/test_calls.py", "tests/api/test_asked_agents.py"),
    "concerto/emit/declarative/sections.py": ("tests/runtime/test_discovery.py",),
    "concerto/emit/witnesses.py": ("tests/runtime/test_tools.py",),
    "concerto/emit/types.py": ("tests/runtime/llm/test_partial_values.py",),
    "concerto/vm/*.py": ("tests/vm",),
    "concerto/vm/python_tier/**/*.py": ("tests/vm",),
    "concerto/vm/machine.py": ("tests/hosts/test_listen.py", "tests/repl"),
    "concerto/vm/classes.py": ("tests/repl",),
    "concerto/natives/iterator.py": ("tests/runtime/llm/test_streaming.py",),
    "concerto/natives/arriving_json.py": ("tests/runtime/llm/test_partial_values.py",),
    "concerto/natives/directed.py": ("tests/runtime/test_reading.py", "tests/runtime/test_structured.py"),
    "concerto/natives/mcpref.py": ("tests/mcp/test_besides_tools.py",),
    "concerto/natives/part.py": ("tests/runtime/llm/test_features.py",),
    "concerto/natives/partial.py": ("tests/runtime/llm/test_partial_values.py",),
    "concerto/natives/*.py": ("tests/natives", "tests/test_stdlib.py"),
    "concerto/semantics/analyses/ownership/*.py": ("tests/semantics", "tests/compiler"),
    "concerto/semantics/typing/coercion.py": ("tests/semantics",),
    "concerto/semantics/typing/traits.py": ("tests/semantics",),
    "concerto/semantics/typing/members.py": ("tests/semantics", "tests/runtime/llm/test_partial_values.py"),
    "concerto/semantics/check/calls/arguments.py": (
        "tests/semantics", "tests/language_server/test_features.py",
    ),
    "concerto/semantics/check/calls/methods.py": ("tests/semantics",),
}  # fmt: skip
# What asks the world, writes for people or describes tools has tests of its own.
_LEFT_OUT = frozenset(
    ("agentbuilder", "crypto", "env", "fs", "hosts", "http", "hashmap", "ledger", "log", "memory", "prompt",
     "testing", "time", "toolcontext", "schemas", "listen_mock", "trace", "sections", "lenient", "schema",
     "entries",
     "json_values", "recording")
)  # fmt: skip

# What the report counts by, the first that fits.
_AREAS = {
    "concerto/emit/": "emitter",
    "concerto/vm/python_tier/": "Python tier",
    "concerto/vm/": "interpreter",
    "concerto/natives/": "natives",
    "concerto/semantics/": "checks",
}
_FOUND = ("noticed", "explained", "unexplained", "not asked")


def main() -> int:
    options = _options()
    _warm()
    chosen = _chosen(options)
    explained = explanations()
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        (folder / "cache").mkdir()
        os.environ["CONCERTO_CACHE"] = str(folder / "cache")
        known = _known(options, folder)
        verdicts = _Verdicts(options.kept / "verdicts.jsonl")
        asked = [
            change
            for change in chosen
            if change.name not in explained and not verdicts.of(change, options.quick)
        ]
        for change, verdict in _all_judged(asked, known, options, folder):
            verdicts.keep(change, verdict)
            print(f"{verdict.seconds:5.1f} s  {verdict.who}  {change}  {verdict.what}", flush=True)
        return _report(chosen, explained, verdicts, options.least)


def explanations() -> dict[str, str]:
    """Why changes, by name, change nothing that can be observed."""
    return tomllib.loads(_EXPLAINED.read_text()) if _EXPLAINED.exists() else {}


def offered(only: str = "") -> list[Change]:
    """All changes of the files whose path has this in it."""
    paths = [path for path in parts() if only in path]
    return [change for path in paths for change in changes_of(ROOT, path)]


def area_of(change: Change) -> str:
    return next(area for prefix, area in _AREAS.items() if change.path.startswith(prefix))


@cache
def parts() -> dict[str, tuple[str, ...]]:
    """The files that are changed, with the tests of their part."""
    found: dict[str, tuple[str, ...]] = {}
    for pattern, tests in _PARTS.items():
        for path in sorted(ROOT.glob(pattern)):
            if path.stem not in _LEFT_OUT:
                short = str(path.relative_to(ROOT))
                found[short] = found.get(short, ()) + tests
    return found


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--changes", type=int, default=300, help="how many, spread over all parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="changes of files whose path has this in it")
    parser.add_argument("--one", help="this change alone, as `equivalent.toml` would name it")
    parser.add_argument("--programs", type=int, default=60, help="how many random programs there are")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="programs alone")
    parser.add_argument("--trusting", action="store_true", help="the compiler as it is passes, do not try")
    parser.add_argument("--least", type=float, default=95, help="percent that must be noticed")
    default = Path(tempfile.gettempdir()) / "concerto-mutation"
    parser.add_argument("--kept", type=Path, default=default, help="folder for what was found")
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    return options


def _warm() -> None:
    """What all processes need and no change touches."""
    import asyncio  # noqa: F401
    import sqlite3  # noqa: F401

    import greenlet  # noqa: F401
    import hypothesis  # noqa: F401
    import lark  # noqa: F401
    import pydantic  # noqa: F401
    import pytest  # noqa: F401


def _chosen(options: Namespace) -> list[Change]:
    """Each change draws its lot by its name: edits of a file leave the choice among others as it was."""
    changes = offered(options.only)
    if options.one:
        return [change for change in changes if change.name == options.one]
    lots = {change: hashlib.sha256(f"{options.seed} {change.name}".encode()).digest() for change in changes}
    chosen = sorted(changes, key=lots.__getitem__)[: options.changes]
    return sorted(chosen, key=lambda change: (change.path, change.number))


def _known(options: Namespace, folder: Path) -> list[Known]:
    """The programs with what they reach; of earlier runs, what still holds."""
    kept = options.kept / "known"
    known: list[Known] = pickle.loads(kept.read_bytes()) if kept.exists() else []
    if not known:
        print("what do the programs reach?", flush=True)
    known = gather(list(parts()), options.programs, known, folder)
    kept.write_bytes(pickle.dumps(known))
    if not options.trusting:
        _require_passing(known, options, folder)
    return known


def _require_passing(known: Sequence[Known], options: Namespace, folder: Path) -> None:
    """The compiler as it is has to pass all that a changed one is tried with."""
    kept = options.kept / "passes"
    digest = _digest("concerto", "stdlib", "grammar", "tests")
    if not kept.exists() or kept.read_text() != digest:
        tests = sorted({each for tests in parts().values() for each in tests})
        unbroken = in_a_process(lambda: judge(None, known, tests, folder / "unbroken"), folder / "answer")
        if unbroken is None or unbroken[0] != "survived":
            sys.exit(f"fails without any change: {unbroken}")
        kept.write_text(digest)


@dataclass(frozen=True)
class Verdict:
    who: str
    what: str
    seconds: float
    digest: str


class _Verdicts:
    """Those of earlier runs that still hold, by the names of changes, and new ones."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self._known = {name: Verdict(**verdict) for name, verdict in map(json.loads, lines)}

    def of(self, change: Change, quick: bool = True) -> Verdict | None:
        verdict = self._known.get(change.name)
        if verdict is None or verdict.digest != _asked_of(change, verdict.who):
            return None
        return verdict if quick or verdict.who != "no program" else None

    def keep(self, change: Change, verdict: Verdict) -> None:
        self._known[change.name] = verdict
        with self._path.open("a") as file:
            file.write(json.dumps([change.name, vars(verdict)]) + "\n")


def _all_judged(
    changes: Sequence[Change], known: Sequence[Known], options: Namespace, folder: Path
) -> Iterator[tuple[Change, Verdict]]:
    """First those for which the compiler must be imported changed, while nothing of it is here."""
    turns = [_Turn(change, that_reach(change, known)) for change in changes]
    yield from _judged([turn for turn in turns if not turn.warm], options, folder)
    warm_up()
    functions()
    caches()
    gc.freeze()
    yield from _judged([turn for turn in turns if turn.warm], options, folder)


@dataclass(frozen=True)
class _Turn:
    """A change with the programs that are asked; `warm` where functions of an imported compiler change."""

    change: Change
    programs: list[Known]

    @cached_property
    def warm(self) -> bool:
        alone = all(entry.reaches(self.change) == 1 for entry in self.programs)
        inside = self.change.reached is not None
        return inside and bool(self.programs) and alone and can_patch(self.change)

    def start(self, options: Namespace, folder: Path) -> int:
        tests = () if options.quick else parts()[self.change.path]
        return start(
            lambda: judge(self.change, self.programs, tests, folder, self.warm), folder.with_suffix(".answer")
        )


def _judged(turns: Sequence[_Turn], options: Namespace, folder: Path) -> Iterator[tuple[Change, Verdict]]:
    waiting = list(reversed(turns))
    running: dict[int, tuple[Change, Path]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < options.processes:
                turn = waiting.pop()
                place = folder / f"change-{len(waiting)}"
                running[turn.start(options, place)] = turn.change, place
            pid, status, used = os.wait4(-1, 0)
            change, place = running.pop(pid)
            end_group(pid)
            who, what = result(place.with_suffix(".answer")) or ("a limit", f"signal {status & 127}")
            shutil.rmtree(place, ignore_errors=True)
            yield change, Verdict(who, what, used.ru_utime + used.ru_stime, _asked_of(change, who))
    finally:
        for pid in running:
            end_group(pid)


def _report(chosen: Sequence[Change], explained: dict[str, str], verdicts: _Verdicts, least: float) -> int:
    """The table, an area a line, and what survived without an explanation."""
    counts = {area: Counter[str]() for area in (*_AREAS.values(), "all")}
    unexplained = []
    for change in chosen:
        verdict = verdicts.of(change)
        if change.name in explained:
            found = "explained"
        elif verdict is None:
            found = "not asked"
        elif verdict.who in ("survived", "no program"):
            found = "unexplained"
            unexplained.append(change)
        else:
            found = "noticed"
        counts[area_of(change)][found] += 1
        counts["all"][found] += 1
    print(f"\n{'area':12}{'changes':>9}" + "".join(f"{name:>13}" for name in _FOUND))
    for area, row in counts.items():
        if row:
            print(f"{area:12}{row.total():9}" + "".join(f"{row[name]:13}" for name in _FOUND))
    for change in unexplained:
        print(f"  {change}")
    row = counts["all"]
    noticed = 100 * row["noticed"] / max(row["noticed"] + row["unexplained"], 1)
    print(f"{noticed:.1f} % of those that change something noticed")
    return 1 if noticed < least else 0


def _asked_of(change: Change, who: str) -> str:
    """What a verdict rests on: a change that survived is tried again when tests are edited."""
    if who not in ("survived", "no program"):
        return _digest(change.path)
    tests = sorted(path.name for path in (ROOT / "tests").iterdir() if path.name != "mutation")
    return _digest("concerto", "stdlib", *(f"tests/{name}" for name in tests))


@cache
def _digest(*places: str) -> str:
    found = hashlib.sha256()
    for place in places:
        path = ROOT / place
        for file in sorted(path.rglob("*.*")) if path.is_dir() else [path]:
            if file.suffix in (".py", ".conc", ".lark", ".toml", ".json"):
                found.update(file.read_bytes())
    return found.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.mutation --changes 300 --seed 1`: breaks the compiler in that many ways, each in a
process of its own, and reports what nobody notices.

First random programs run on both tiers and must do what they do unbroken, where the oracle agrees; then the
unit tests of the part run, then the test programs. The first difference ends a change's turn, and so does a
time limit. `equivalent.toml` explains changes that change nothing. Exit status 1 if too few of the others
were noticed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from argparse import ArgumentParser, Namespace
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from tests.mutation.changes import Change, changes_of
from tests.mutation.importing import CHANGE

_ROOT = Path(__file__).parents[2]
_EXPLAINED = Path(__file__).parent / "equivalent.toml"

# Where meaning is decided, with the tests that know the part best.
_PARTS: dict[str, tuple[str, ...]] = {
    "concerto/emit/*.py": ("tests/emit",),
    "concerto/vm/*.py": ("tests/vm",),
    "concerto/vm/python_tier/**/*.py": ("tests/vm",),
    "concerto/natives/*.py": ("tests/natives", "tests/test_stdlib.py"),
    "concerto/semantics/analyses/ownership/*.py": ("tests/semantics",),
    "concerto/semantics/typing/coercion.py": ("tests/semantics",),
    "concerto/semantics/typing/traits.py": ("tests/semantics",),
    "concerto/semantics/typing/members.py": ("tests/semantics",),
    "concerto/semantics/check/calls/arguments.py": ("tests/semantics",),
    "concerto/semantics/check/calls/methods.py": ("tests/semantics",),
}
# What asks the world, writes for people or describes tools has tests of its own.
_LEFT_OUT = frozenset(
    ("agentbuilder", "crypto", "env", "fs", "hosts", "http", "hashmap", "ledger", "log", "memory", "prompt",
     "testing", "time", "toolcontext", "schemas", "listen_mock", "trace", "sections", "lenient", "schema",
     "entries",
     "json_values", "recording")
)  # fmt: skip


def main() -> int:
    options = _options()
    chosen = _chosen(options)
    explained = tomllib.loads(_EXPLAINED.read_text()) if _EXPLAINED.exists() else {}
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        folder = Path(name)
        expected = _expected(folder, options.programs)
        with ThreadPoolExecutor(options.processes) as pool:
            verdicts = list(
                pool.map(
                    lambda entry: _judge(entry[0], entry[1], folder, expected, options, explained), chosen
                )
            )
    counts = Counter(verdict.split(":")[0] for verdict in verdicts)
    survived = [
        change for (change, _), verdict in zip(chosen, verdicts, strict=True) if verdict == "survived"
    ]
    meant = len(chosen) - counts["explained"]
    noticed = 100 * (meant - len(survived)) / max(meant, 1)
    print(f"\n{len(chosen)} changes, {noticed:.1f} % of those that change something noticed: {dict(counts)}")
    for change in survived:
        print(f"  {change}")
    return 1 if noticed < options.least else 0


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("--changes", type=int, default=300, help="how many, spread over all parts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="changes of files whose path has this in it")
    parser.add_argument(
        "--one", help="this change alone, as the report names it: `concerto/emit/calls.py#12`"
    )
    parser.add_argument("--programs", type=int, default=80, help="random programs for each change")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="random programs alone")
    parser.add_argument("--limit", type=float, default=240, help="seconds for each round of tests")
    parser.add_argument("--least", type=float, default=95, help="percent that must be noticed")
    return parser.parse_args()


def _chosen(options: Namespace) -> list[tuple[Change, tuple[str, ...]]]:
    """The changes with the tests of their part; the same for a seed as long as the files are the same."""
    offered: list[tuple[Change, tuple[str, ...]]] = []
    for pattern, tests in _PARTS.items():
        for path in sorted(_ROOT.glob(pattern)):
            short = path.relative_to(_ROOT)
            if path.stem not in _LEFT_OUT and (not options.only or options.only in str(short)):
                changes = changes_of(path)
                offered += [
                    (Change(str(short), each.number, each.line, each.what), tests) for each in changes
                ]
    if options.one:
        return [entry for entry in offered if f"{entry[0].path}#{entry[0].number}" == options.one]
    return sorted(Random(options.seed).sample(offered, min(options.changes, len(offered))), key=str)


def _expected(folder: Path, count: int) -> Path:
    """Programs with what they do: those on which the oracle and both tiers agree."""
    from concerto.compiler.depth import on_large_stack
    from tests.properties.generating import make_program
    from tests.properties.running import Refused, agree, outcomes

    cache = folder / "cache"
    programs: list[dict[str, object]] = []

    def gather() -> None:
        for seed in range(4 * count):
            files = make_program(Random(f"mutation:{seed}"))
            try:
                found = outcomes(files)
            except Refused:
                continue
            if agree(found) and len(programs) < count:
                outcome = found["python"]
                programs.append({"files": files, "does": [outcome.status, outcome.stdout, outcome.stderr]})

    os.environ["CONCERTO_CACHE"] = str(cache)
    on_large_stack(gather)
    path = folder / "programs.json"
    path.write_text(json.dumps(programs))
    return path


def _judge(
    change: Change,
    tests: tuple[str, ...],
    folder: Path,
    expected: Path,
    options: Namespace,
    explained: dict[str, object],
) -> str:
    start = time.monotonic()
    name = f"{change.path}#{change.number}"
    # A broken compiler must not leave what it made to others.
    cache = folder / f"cache-{change.path.replace('/', '-')}-{change.number}"
    shutil.copytree(folder / "cache", cache, dirs_exist_ok=True)
    environment = {**os.environ, CHANGE: name, "CONCERTO_CACHE": str(cache)}
    rounds = [[sys.executable, "-m", "tests.mutation.killing", str(expected)]]
    if not options.quick:
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "tests.mutation.importing"]
        rounds += [[*pytest, *tests], [*pytest, "tests/programs"]]
    verdict = "survived"
    for command in rounds:
        verdict = _run(command, environment, options.limit)
        if verdict != "survived":
            break
    shutil.rmtree(cache, ignore_errors=True)
    if verdict == "survived" and f"{change.path}: {change.what}" in explained:
        verdict = "explained"
    print(f"{time.monotonic() - start:5.0f} s  {verdict:.60}  {change}", flush=True)
    return verdict


def _run(command: list[str], environment: dict[str, str], limit: float) -> str:
    try:
        done = subprocess.run(
            command,
            cwd=_ROOT,
            env=environment,
            timeout=limit,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        return "noticed: it hangs"
    if done.returncode == 0:
        return "survived"
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    return f"noticed: {lines[-1] if lines else done.returncode}"


if __name__ == "__main__":
    sys.exit(main())

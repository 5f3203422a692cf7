"""What `[trust]` costs: `python -m tests.bench.trust`.

CPU time of checking a program of 900 lines with it and without, and of the tool loop, against a server that
answers at once: two calls in turn, with untrusted results and a guard, and with nothing labelled. Each figure
is the median of many short pairs that take turns in one process, with the interval in which the median lies
in 95 of 100 cases, so that it says itself how far it can be believed on a machine that others use too. The
loop's executed opcodes do not depend on the machine at all. `--loop` leaves out the checking.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import analyze, compile_module
from concerto.diagnostics import Problems
from concerto.manifest.load_cached import ManifestSettings
from concerto.program import Program, Runtime
from concerto.source import Source
from tests.bench.agents import PROGRAM, STUB, Work
from tests.bench.compiling import program

_CHECKS = 31
_PAIRS = 301
_RUNS = 6
"""of the loop in each half of a pair"""
_TOOLS = """
tool Inbox {
    description: "Reads mail",
    @source(untrusted) @describe("The newest")
    pub fn newest() -> String { "hello" }
}
tool Mail {
    description: "Sends mail",
    SINK @describe("Send a mail")
    pub fn send(@param("Who gets it") to: String) -> String { to }
}
agent Reader { provider: openai, tools: [Inbox] GUARD }
agent Sender { provider: openai, tools: [Mail] GUARD }
fn ask() -> Bool { Reader.execute("a").is_ok() && Sender.execute("b").is_ok() }
"""
CHECKED = {
    "no agents": "",
    "no sinks": _TOOLS.replace("SINK", "").replace("GUARD", ""),
    "guarded agents": _TOOLS.replace("SINK", "@sink(mail)").replace("GUARD", ', guard: "deny"'),
    "agents apart": _TOOLS.replace("SINK", "@sink(mail)").replace("GUARD", ""),
}
LABELLED = PROGRAM.replace("    @describe", "    @source(untrusted)\n    @describe", 1).replace(
    "tools: [Calculator]", 'tools: [Calculator], guard: "deny"'
)


def main() -> None:
    asyncio.run(measure_all())


async def measure_all() -> None:
    for title, more in CHECKED.items() if "--loop" not in sys.argv else ():
        text = program(900) + more
        await compare(f"checking, {title}", checking(text, "off"), checking(text, "deny"), _CHECKS)
    stub = subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    url = f"http://127.0.0.1:{stub.stdout.readline().strip()}"
    try:
        for title, source in (("no labels", PROGRAM), ("untrusted results, guarded", LABELLED)):
            off, on = (runner(source, url, mode) for mode in ("off", "deny"))
            await compare(f"tool loop, {title}", off, on, _PAIRS, _RUNS)
            few, many = await opcodes(off), await opcodes(on)
            print(f"  executed opcodes: off {few:,}, on {many:,}, {many / few - 1:+.2%}", flush=True)
    finally:
        stub.terminate()


async def compare(title: str, off: Work, on: Work, pairs: int, times: int = 1) -> None:
    """Reports the median of the ratios of pairs; in every other one the second half comes first."""
    found: dict[Work, list[float]] = {off: [], on: []}
    for number in range(pairs):
        for work in (off, on) if number % 2 else (on, off):
            await work()  # What the other one has left behind is not this one's.
            found[work].append(await seconds(work, times))
    shares = sorted(later / before - 1 for before, later in zip(found[off], found[on], strict=True))
    # Ranks between which the median lies: binomial, in the normal approximation.
    low = max(int(pairs / 2 - 0.98 * pairs**0.5), 0)
    before, later = (median(found[work]) * 1000 for work in (off, on))
    said = f"{median(shares):+.1%} (95 %: {shares[low]:+.1%} to {shares[-1 - low]:+.1%})"
    print(f"{title}: off {before:.2f} ms, on {later:.2f} ms CPU, {said}", flush=True)


async def seconds(work: Callable[[], Awaitable[None]], times: int) -> float:
    """CPU time of one run."""
    begun = time.process_time()
    for _ in range(times):
        await work()
    return (time.process_time() - begun) / times


async def opcodes(work: Work) -> int:
    """How many opcodes of Python one run executes, at the least: how often a socket wakes it differs."""
    counts: list[int] = []

    def count(frame: FrameType, event: str, _: Any) -> Any:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        counts[-1] += event == "opcode"
        return count

    for _ in range(5):
        await work()
        counts.append(0)
        sys.settrace(count)
        try:
            await work()
        finally:
            sys.settrace(None)
    return min(counts)


def settings(mode: str, url: str = "") -> ManifestSettings:
    connection = {"provider": "openai"} | ({"base_url": url} if url else {})
    return ManifestSettings(connections={"openai": connection}, trust={"mode": mode})


def checking(text: str, mode: str) -> Work:
    """What checks a program once."""

    async def check() -> None:
        problems = Problems()
        project = DiskProject(Path(), settings(mode), problems)
        analysis = analyze(Source("generated.conc", text), project, problems)
        assert analysis is not None, [problem.message for problem in problems]

    return check


def runner(source: str, url: str, mode: str) -> Work:
    """What runs a program once."""
    problems, manifest = Problems(), settings(mode, url)
    module = compile_module(Source("loop.conc", source), DiskProject(Path(), manifest, problems), problems)
    assert module is not None, [problem.message for problem in problems]
    compiled = Program(module)

    async def run() -> None:
        assert await Runtime(compiled, manifest=manifest, quiet=True).run_async()

    return run


if __name__ == "__main__":
    main()

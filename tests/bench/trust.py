"""What `[trust]` costs: `python -m tests.bench.trust`.

CPU time of checking a program of 900 lines with it and without, and of the tool loop, against a server that
answers at once: two calls in turn, with untrusted results and a guard, and with nothing labelled.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from concerto.compiler.disk import DiskProject
from concerto.compiler.pipeline import analyze, compile_module
from concerto.diagnostics import Problems
from concerto.manifest.load_cached import ManifestSettings
from concerto.program import Program, Runtime
from concerto.source import Source
from tests.bench.agents import PROGRAM, STUB, Work, measure
from tests.bench.compiling import program

_PAIRS = 15
_RUNS = 100
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
    for title, more in CHECKED.items():
        text = program(900) + more
        pairs = [(check_seconds(text, "off"), check_seconds(text, "deny")) for _ in range(_PAIRS)]
        report(f"checking, {title}", pairs)
    stub = subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    url = f"http://127.0.0.1:{stub.stdout.readline().strip()}"
    try:
        for title, source in (("no labels", PROGRAM), ("untrusted results, guarded", LABELLED)):
            off, on = (runner(source, url, mode) for mode in ("off", "deny"))
            pairs = [
                (asyncio.run(measure(off, 1, _RUNS)) / 1000, asyncio.run(measure(on, 1, _RUNS)) / 1000)
                for _ in range(_PAIRS)
            ]
            report(f"tool loop, {title}", pairs)
    finally:
        stub.terminate()


def report(title: str, pairs: list[tuple[float, float]]) -> None:
    """Medians of alternating measurements: others use the machine too."""
    off, on = (median(column) * 1000 for column in zip(*pairs, strict=True))
    share = median([on / off for off, on in pairs]) - 1
    print(f"{title}: off {off:.2f} ms, on {on:.2f} ms CPU, {share:+.1%}", flush=True)


def settings(mode: str, url: str = "") -> ManifestSettings:
    connection = {"provider": "openai"} | ({"base_url": url} if url else {})
    return ManifestSettings(connections={"openai": connection}, trust={"mode": mode})


def check_seconds(text: str, mode: str) -> float:
    problems = Problems()
    project = DiskProject(Path(), settings(mode), problems)
    begun = time.process_time()
    analysis = analyze(Source("generated.conc", text), project, problems)
    taken = time.process_time() - begun
    assert analysis is not None, [problem.message for problem in problems]
    return taken


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

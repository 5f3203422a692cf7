"""Benchmark of concurrency, run by hand: `python -m tests.bench.concurrency`.

`parallel for` over n calls of 20 ms with limit k should take n/k × 20 ms; what is beyond that is overhead.
Beside it stands the same work as plain asyncio, in the same process. Then the cost of a branch that waits for
nothing, of a task, of a stage, and of 1,000 branches that each wait for a model,
beside a bare loop of httpx2 over the same requests.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from time import perf_counter, process_time

import httpx2

from concerto.compiler import compile_source
from concerto.manifest.models import Manifest
from concerto.program import Runtime

CALL_MS = 20
CASES = ((100, 10), (1000, 10), (1000, 100), (1000, 1000), (10_000, 1000))
BRANCHES = 20_000
SLEEPS = """
use std::time;
fn call(n: Int) -> Int { time::sleep(%d); n }
fn main() { parallel for n in 0..%d, limit: %d { call(n) }; }
"""
OVERHEADS = {
    "branch of `parallel for`": "parallel for n in 0..%d { n };",
    "branch of `parallel for`, limit 10": "parallel for n in 0..%d, limit: 10 { n };",
    "`await` of two": "for n in 0..%d / 2 { await (n, n); }",
    "`spawn` and `.await`": "for n in 0..%d { let t = spawn id(n); t.await; }",
    "stage of a pipeline": "for n in 0..%d { P.run(n); }",
}
PROGRAM = """
fn id(n: Int) -> Int { n }
pipeline P { stage one(n: Int) -> Int { n } }
fn main() { %s }
"""
AGENTS = """
agent A { provider: openai, model: "m" }
fn main() { parallel for n in 0..%d { A.execute("x").unwrap() }; }
"""
MODEL_SECONDS = 1.0


def main() -> None:
    print(f"`parallel for` over calls of {CALL_MS} ms (seconds; ratio to n/k × {CALL_MS} ms)")
    print(f"{'n':>7} {'k':>6} {'ideal':>8} {'concerto':>16} {'asyncio':>16} {'µs CPU a branch':>16}")
    for count, limit in CASES:
        ideal = -(-count // limit) * CALL_MS / 1000
        ours, cpu = timed(SLEEPS % (CALL_MS, count, limit))
        theirs = asyncio_sleeps(count, limit)
        print(
            f"{count:>7} {limit:>6} {ideal:>8.2f} {ours:>8.2f} ({ours / ideal:.2f}) "
            f"{theirs:>8.2f} ({theirs / ideal:.2f}) {cpu / count * 1e6:>16.0f}"
        )
    print("\nwithout waiting (µs of CPU each)")
    for name, body in OVERHEADS.items():
        _, cpu = timed(PROGRAM % (body % BRANCHES))
        print(f"{name:>36} {cpu / BRANCHES * 1e6:>8.1f}")
    print(f"\nbranches that each wait {MODEL_SECONDS:g} s for a model (seconds; CPU seconds)")
    print(f"{'n':>7} {'concerto':>16} {'bare httpx2':>16} {'ratio':>8}")
    with slow_model() as url:
        manifest = Manifest.model_validate(
            {"connections": {"openai": {"provider": "openai", "base_url": url}}}
        )
        for count in (1, 100, 1000):
            ours, our_cpu = timed(AGENTS % count, manifest)
            theirs, cpu = bare_requests(f"{url}/chat/completions", count)
            print(f"{count:>7} {ours:>8.2f} {our_cpu:>7.2f} {theirs:>8.2f} {cpu:>7.2f} {ours / theirs:>8.2f}")


def timed(source: str, manifest: Manifest | None = None) -> tuple[float, float]:
    """Seconds of a run, and of its CPU time, without compiling."""
    runtime = Runtime(compile_source(source), manifest=manifest, quiet=True, environment={})
    with redirect_stdout(StringIO()):
        begun, cpu = perf_counter(), process_time()
        assert runtime.run().status == 0
        return perf_counter() - begun, process_time() - cpu


def asyncio_sleeps(count: int, limit: int) -> float:
    async def call(number: int) -> int:
        await asyncio.sleep(CALL_MS / 1000)
        return number

    async def work() -> None:
        places = asyncio.Semaphore(limit)

        async def one(number: int) -> int:
            async with places:
                return await call(number)

        async with asyncio.TaskGroup() as group:
            for number in range(count):
                group.create_task(one(number))

    begun = perf_counter()
    asyncio.run(work())
    return perf_counter() - begun


def bare_requests(url: str, count: int) -> tuple[float, float]:
    """The same requests from one httpx2 client, as few lines of Python as they take."""
    asked = {"model": "m", "messages": [{"role": "user", "content": "x"}]}

    async def one(client: httpx2.AsyncClient) -> str:
        reply = await client.post(url, json=asked)
        text: str = reply.json()["choices"][0]["message"]["content"]
        return text

    async def work() -> None:
        limits = httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(limits=limits, timeout=None) as client:
            await asyncio.gather(*[one(client) for _ in range(count)])

    begun, cpu = perf_counter(), process_time()
    asyncio.run(work())
    return perf_counter() - begun, process_time() - cpu


@contextmanager
def slow_model() -> Iterator[str]:
    """A server of the OpenAI wire that answers everything after a while, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.concurrency", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


async def serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=2000)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    reply = {
        "choices": [{"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    body = json.dumps(reply).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    try:
        while True:
            request = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = next(line for line in request.splitlines() if line.startswith("content-length"))
            await reader.readexactly(int(length.partition(":")[2]))
            await asyncio.sleep(MODEL_SECONDS)
            writer.write(head.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        main()

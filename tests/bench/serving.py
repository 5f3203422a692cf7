"""CPU time of a request to `concerto serve`: `python -m tests.bench.serving [--rounds 9] [--each 200]`.

Beside it the same agent called in process in a Starlette route that does nothing else, a route that only
reads and writes JSON, and what the first streamed word adds. All sides take turns, one request at a time over
one connection; the medians count. An empty program, and an empty function of a loaded
one, are run in process too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from concerto import Runtime, compile_source, load
from tests.bench.agents import STUB
from tests.serving.servers import project, served

PROGRAM = """
agent Plain { provider: local, model: "m" }
pub fn ask(prompt: String) -> String { Plain.execute(prompt).unwrap().text }
"""

PEER = r"""
import socket, sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from concerto import Runtime, compile_file

program = compile_file(sys.argv[1])
ANSWER = {"id": "x" * 1200, "output": []}

async def bare(request):
    await request.json()
    return JSONResponse(ANSWER)

async def agent(request):
    asked = await request.json()
    result = await Runtime(program, quiet=True).call_async("ask", asked["input"])
    assert result.ok
    return JSONResponse({**ANSWER, "output": [result.value]})

listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
routes = [Route("/bare", bare, methods=["POST"]), Route("/agent", agent, methods=["POST"])]
config = uvicorn.Config(Starlette(routes=routes), log_level="warning", access_log=False)
uvicorn.Server(config).run(sockets=[listening])
"""

SLOW_MODEL = r"""
import asyncio
from tests.serving.slow_model import slow_model

async def main():
    async with slow_model(0.03) as url:
        print(url.split(":")[2].partition("/")[0], flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

EMPTY = "fn main() {}"


class Side:
    """One kind of request to one process."""

    def __init__(self, client: httpx2.Client, process: int, path: str, body: dict[str, Any]) -> None:
        self._client = client
        self._process = process
        self._path = path
        self._body = body
        self.found: list[float] = []
        self.waited: list[float] = []

    def measure(self, times: int) -> None:
        """Milliseconds of the server's CPU for one request, and of the client's waiting."""
        begun, at = processor_seconds(self._process), time.perf_counter()
        for _ in range(times):
            answer = self._client.post(self._path, json=self._body)
            assert answer.status_code == 200, answer.text
        self.waited.append((time.perf_counter() - at) * 1000 / times)
        self.found.append((processor_seconds(self._process) - begun) * 1000 / times)


def processor_seconds(process: int) -> float:
    """What another process has used; see `clock_getcpuclockid`."""
    return time.clock_gettime((~process << 3) | 2)


@contextmanager
def peer(*command: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that writes its port."""
    environment = {**os.environ, "MODEL_KEY": "x"}
    process = subprocess.Popen(
        [sys.executable, "-c", *command], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert process.stdout is not None
        yield process, f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.communicate()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.bench.serving")
    given.add_argument("--rounds", type=int, default=9)
    given.add_argument("--each", type=int, default=200)
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder, peer(STUB) as (_, model):
        place = project(Path(folder) / "p", model, PROGRAM)
        with (
            served(place) as server,
            peer(PEER, str(place / "main.conc")) as (beside, url),
            httpx2.Client(base_url=server.url) as ours,
            httpx2.Client(base_url=url) as theirs,
        ):
            asked = {"input": "What is 2 + 2 + 3?"}
            chat = {"messages": [{"role": "user", "content": asked["input"]}], "model": "Plain"}
            process = server.process.pid
            sides = {
                "bare route": Side(theirs, beside.pid, "/bare", asked),
                "bare route + agent in process": Side(theirs, beside.pid, "/agent", asked),
                "responses": Side(ours, process, "/v1/responses", asked),
                "responses, store: false": Side(ours, process, "/v1/responses", {**asked, "store": False}),
                "chat completions": Side(ours, process, "/v1/chat/completions", chat),
            }
            for side in sides.values():
                side.measure(20)
                side.found.clear()
                side.waited.clear()
            for _ in range(options.rounds):
                for side in sides.values():
                    side.measure(options.each)
            base = sides["bare route + agent in process"]
            for title, side in sides.items():
                ratio = median([mine / its for mine, its in zip(side.found, base.found, strict=True)])
                took = f"{median(side.found):6.3f} ms CPU, {median(side.waited):6.2f} ms in all"
                print(f"{title:32} {took}, ratio {ratio:.2f}")
    first_words()
    print(f"Runtime(program).run() of an empty program: {empty_run():.3f} ms CPU")
    print(f"app.f(x) of an empty function: {empty_call():.3f} ms CPU")


def first_words() -> None:
    """How long the first word of a stream takes that a model says after a while."""
    prompt = {"model": "Plain", "stream": True}
    said = {**prompt, "messages": [{"role": "user", "content": "say first second"}]}
    with (
        tempfile.TemporaryDirectory() as folder,
        peer(SLOW_MODEL) as (_, model),
        served(project(Path(folder) / "p", f"{model}/v1", PROGRAM)) as server,
        httpx2.Client(base_url=server.url) as ours,
        httpx2.Client(base_url=model) as direct,
    ):
        body = {**prompt, "input": "say first second"}
        sides = {
            "the model itself": partial(first_word, direct, "/v1/chat/completions", said),
            "responses": partial(first_word, ours, "/v1/responses", body),
            "chat completions": partial(first_word, ours, "/v1/chat/completions", said),
        }
        took: dict[str, list[float]] = {title: [] for title in sides}
        for _ in range(60):
            for title, side in sides.items():
                took[title].append(side() * 1000)
    for title, found in took.items():
        print(f"first streamed word: {title:20} {median(found):.2f} ms")


def first_word(client: httpx2.Client, path: str, body: dict[str, Any]) -> float:
    begun, found = time.perf_counter(), 0.0
    with client.stream("POST", path, json=body) as answer:
        for line in answer.iter_lines():
            if not found and '"first ' in line:
                found = time.perf_counter() - begun
    assert found, "no word came"
    return found


def empty_run() -> float:
    program = compile_source(EMPTY)

    def run() -> None:
        assert Runtime(program).run()

    return least(run)


def empty_call() -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "main.conc"
        file.write_text("pub fn f(x: Int) -> Int { x }\n")
        app = load(file)
        return least(lambda: app.f(1))


def least(work: Callable[[], None], rounds: int = 9, times: int = 300) -> float:
    """The median, in milliseconds of CPU of one call."""
    work()
    found = []
    for _ in range(rounds):
        begun = time.process_time()
        for _ in range(times):
            work()
        found.append((time.process_time() - begun) * 1000 / times)
    return median(found)


if __name__ == "__main__":
    main()

"""Many clients that stream answers at once, and what that takes of the server.

`python -m tests.serving.streams --streams 500 --seconds 60` prints a row every few seconds: the memory and
the processor time of the server, and how much later than the model's pause a word came after the one before.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx2

from concerto.json_data import Json
from tests.serving.servers import Served, project, served
from tests.serving.slow_model import slow_model

PROGRAM = 'agent Sayer { provider: local, model: "m" }'
_ROW_SECONDS = 5.0
_TICKS = 100


class Streams:
    def __init__(self, server: Served) -> None:
        self._server = server
        self.words = 0
        self.late: list[float] = []
        """Seconds that words came later than the one before them, beyond the pause of the model."""
        self.whole = 0
        self.open = 0

    async def stream(self, client: httpx2.AsyncClient, words: int, pause: float) -> None:
        body = {"input": "say " + " ".join([f"w{n}" for n in range(words)]), "stream": True, "store": False}
        heard, last = 0, 0.0
        async with client.stream("POST", "/v1/responses", json=body) as answer:
            answer.raise_for_status()
            self.open += 1
            async for line in answer.aiter_lines():
                if not line.startswith('data: {"type": "response.output_text.delta"'):
                    continue
                now = time.monotonic()
                if last:
                    self.late.append(now - last - pause)
                heard, last = heard + 1, now
                self.words += 1
        self.open -= 1
        self.whole += heard == words

    def used(self) -> tuple[float, float]:
        """Megabytes and seconds of processor time of the server so far."""
        process = Path(f"/proc/{self._server.process.pid}")
        pages = int((process / "statm").read_text().split()[1])
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        return pages * resource.getpagesize() / 2**20, (int(fields[11]) + int(fields[12])) / _TICKS


async def measure(folder: Path, streams: int, seconds: float, pause: float) -> bool:
    words = round(seconds / pause)
    async with slow_model(pause) as model:
        with served(project(folder, model, PROGRAM)) as server:
            made = Streams(server)
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
            async with httpx2.AsyncClient(base_url=server.url, timeout=300, limits=limits) as client:
                tasks = [asyncio.create_task(made.stream(client, words, pause)) for _ in range(streams)]
                print("s | open | words | MB | CPU s | a word late by s: median, 99 %", flush=True)
                began = time.monotonic()
                while not all(task.done() for task in tasks):
                    await asyncio.wait(tasks, timeout=_ROW_SECONDS)
                    _row(made, time.monotonic() - began)
                failed = [task.exception() for task in tasks if task.exception() is not None]
    print(f"{made.whole} of {streams} were whole; failed: {failed[:3]}")
    return made.whole == streams


def _row(made: Streams, passed: float) -> None:
    megabytes, processor = made.used()
    late, made.late = sorted(made.late), []
    shown: Json = [0.0, 0.0] if not late else [median(late), late[int(len(late) * 0.99)]]
    print(
        f"{passed:3.0f} | {made.open:4} | {made.words:6} | {megabytes:4.0f} | {processor:5.1f} | "
        f"{json.dumps([round(each, 3) for each in shown])}",
        flush=True,
    )


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.serving.streams")
    given.add_argument("--streams", type=int, default=500)
    given.add_argument("--seconds", type=float, default=60)
    given.add_argument("--pause", type=float, default=1.0, help="of the model before each word")
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = asyncio.run(measure(Path(folder) / "p", options.streams, options.seconds, options.pause))
    raise SystemExit(not whole)


if __name__ == "__main__":
    main()

"""A server that is killed again and again while runs, background responses and streams go on.

`python -m tests.serving.kills --kills 200 --seed 1` prints a row every ten kills. Clients follow every run
and every background response by its events, come back after each kill at the number that they had, and at
the end read all of it again from the beginning: nothing may be lost, doubled or different.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx2

from tests.serving.servers import Served, project, served
from tests.serving.slow_model import slow_model

PROGRAM = """
hashmap Turns: HashMap<String, Int>;
agent Sayer { provider: local, model: "m" }
fn main(args: Array<String>) -> Result<String, AgentError> {
    for n in 0..4 {
        emit("step", {"n": n});
        let said = Sayer.execute("say ${args[0]}-${n}")?;
        emit("said", {"text": said.text});
    }
    Ok(args[0])
}
"""
WORDS = " ".join([f"word{n}" for n in range(12)])
_AT_ONCE = 6


class Followed:
    """A run or a background response, and the events that a client has seen of it."""

    def __init__(self, path: str, events: str, first: int, moves: asyncio.Event) -> None:
        self.path = path
        self.events = events
        self.first = first
        self.moves = moves
        self.seen: list[str] = []
        self.ended = False

    async def follow(self, client: httpx2.AsyncClient) -> None:
        """Read what comes behind the last number, until its end or that of the server."""
        after = self.first + len(self.seen) - 1
        async with client.stream("GET", self.events.format(after)) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith("data: "):
                    continue
                data = line.removeprefix("data: ")
                if data == "[DONE]":
                    self.ended = True
                    return
                self.seen.append(data)
                self.moves.set()
                if '"run:end"' in data:
                    self.ended = True
                    return


class Killing:
    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._servers = ExitStack()
        self._server: Served | None = None
        self._up = asyncio.Event()
        self.moves = asyncio.Event()
        """Set when a client hears something."""
        self.runs: list[Followed] = []
        self.responses: list[Followed] = []
        self.cut = 0

    @asynccontextmanager
    async def server(self) -> AsyncIterator[Served]:
        """A server that lives as long as the body."""
        with ExitStack() as stack:
            self._server = await asyncio.to_thread(stack.enter_context, served(self._folder))
            self._up.set()
            try:
                yield self._server
            finally:
                self._up.clear()
                self._server.process.send_signal(signal.SIGKILL)

    def client(self) -> httpx2.AsyncClient:
        assert self._server is not None
        return httpx2.AsyncClient(base_url=self._server.url, timeout=120)

    async def begin(self) -> None:
        """Begin something, and follow it to its end through all servers."""
        async with self.client() as client:
            if self._chance.random() < 0.5:
                body = {"args": [str(len(self.runs))]}
                made = (await client.post("/runs", json=body)).raise_for_status().json()
                path = f"/runs/{made['id']}"
                item = Followed(path, path + "/events?after={}", 1, self.moves)
                self.runs.append(item)
            else:
                wanted = {"input": f"say {WORDS}", "background": True}
                made = (await client.post("/v1/responses", json=wanted)).raise_for_status().json()
                path = f"/v1/responses/{made['id']}"
                item = Followed(path, path + "?stream=true&starting_after={}", 0, self.moves)
                self.responses.append(item)
        while not item.ended:
            await self._up.wait()
            try:
                async with self.client() as client:
                    await item.follow(client)
            except httpx2.TransportError:
                await asyncio.sleep(0.05)

    async def stream(self) -> None:
        """A stream that nobody keeps: it ends with its server."""
        try:
            async with (
                self.client() as client,
                client.stream(
                    "POST", "/v1/responses", json={"input": f"say {WORDS}", "stream": True}
                ) as answer,
            ):
                async for _ in answer.aiter_lines():
                    pass
        except httpx2.TransportError:
            self.cut += 1

    async def keep_busy(self) -> None:
        """Let there be work until cancelled; what has been accepted goes on."""
        while True:
            await self._up.wait()
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(_AT_ONCE):
                        group.create_task(self._begun())
                    group.create_task(self.stream())
            except* httpx2.TransportError:
                await asyncio.sleep(0.05)

    async def _begun(self) -> None:
        with suppress(httpx2.TransportError):  # Killed before it was accepted.
            await self.begin()

    async def check(self) -> list[str]:
        """What is wrong with what came of it."""
        wrong = []
        async with self.client() as client:
            for item in [*self.runs, *self.responses]:
                again = Followed(item.path, item.events, item.first, self.moves)
                await again.follow(client)
                if again.seen != item.seen:
                    wrong.append(f"{item.path}: {len(item.seen)} events seen, {len(again.seen)} kept")
                made = (await client.get(item.path)).json()
                if item in self.runs:
                    channels = [json.loads(each)["channel"] for each in item.seen]
                    own = [each for each in channels if each in ("step", "said", "run:end")]
                    if made["status"] != "done" or own != [*["step", "said"] * 4, "run:end"]:
                        wrong.append(f"{item.path}: {made['status']}, {own}")
                    continue
                events = [json.loads(each) for each in item.seen]
                said = "".join(each["delta"] for each in events if each["type"].endswith("text.delta"))
                numbers = [each["sequence_number"] for each in events]
                if made["status"] != "completed" or said.split() != WORDS.split():
                    wrong.append(f"{item.path}: {made['status']}, {said}")
                if numbers != list(range(len(numbers))):
                    wrong.append(f"{item.path}: numbers {numbers}")
        return wrong


async def kill(folder: Path, kills: int, chance: random.Random) -> list[str]:
    async with slow_model(0.02) as model:
        project(folder, model.removesuffix("/v1") + "/v1", PROGRAM)
        killing = Killing(folder, chance)
        busy = asyncio.create_task(killing.keep_busy())
        print("kills | runs | background responses | streams cut | still under way", flush=True)
        for number in range(1, kills + 1):
            async with killing.server():
                killing.moves.clear()
                await killing.moves.wait()
                await asyncio.sleep(chance.random() * 1.5)
            if busy.done():
                break
            if number % 10 == 0 or number == kills:
                going = sum(not each.ended for each in [*killing.runs, *killing.responses])
                begun = f"{len(killing.runs):4} | {len(killing.responses):20}"
                print(f"{number:5} | {begun} | {killing.cut:11} | {going:15}", flush=True)
        busy.cancel()
        async with killing.server():
            await asyncio.wait([busy])
            if not busy.cancelled():
                busy.result()
            rest = [each for each in [*killing.runs, *killing.responses] if not each.ended]
            async with killing.client() as client:
                await asyncio.gather(*[each.follow(client) for each in rest])
            return await killing.check()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.serving.kills")
    given.add_argument("--kills", type=int, default=20)
    given.add_argument("--seed", type=int, default=1)
    options = given.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wrong = asyncio.run(kill(Path(folder) / "p", options.kills, random.Random(options.seed)))
    for each in wrong:
        print(each)
    print("nothing lost, doubled or different" if not wrong else f"{len(wrong)} are wrong")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()

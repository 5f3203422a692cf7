"""Processes killed at random moments, resumed and decided on until their run has ended.

`python -m tests.journal.killing --kills 1000 --seed 1 [--store postgresql://…]` does it as often as wanted.
After each kill the journal is compared with what the world has seen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any

from concerto import RunStore, open_store

ROUNDS = 12
SOURCE = """
use std::tools::HttpTool;
connect here { provider: "custom", base_url: "URL", default_model: "m" }
agent Clerk { provider: here }
fn main(args: Array<String>) -> Result<Nil, Any> {
    for n in 0..ROUNDS {
        let read = HttpTool.get("URL/read/${n}")?;
        println("read ${n}: ${read}");
        println("said ${n}: ${Clerk.execute("number ${n}.")?.text}");
        parallel for each in 0..3 { HttpTool.post("URL/write/${n}.${each}", {"n": n}) };
    }
    println("all is done");
    Ok(nil)
}
"""
BY_HAND = json.dumps({"status": 200, "body": "by hand", "headers": {}})


class World:
    """A server that counts what it is asked for, and answers after a moment."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.keys: dict[str, str | None] = {}
        """The idempotency key that each was last asked with."""
        self._busy = 0
        self._changed = threading.Condition()
        world, delays = self, Random()

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                given = self.rfile.read(int(self.headers.get("content-length", 0)))
                said: Any = self.path
                if self.path.endswith("/chat/completions"):
                    prompt = json.loads(given)["messages"][-1]["content"]
                    world.asked[f"/say/{prompt[7:-1]}"] += 1
                    reply = {"role": "assistant", "content": f"heard {prompt}"}
                    said = {"choices": [{"message": reply, "finish_reason": "stop"}]}
                else:
                    world.asked[self.path] += 1
                    world.keys[self.path] = self.headers["idempotency-key"]
                time.sleep(delays.choice([0.001, 0.005, 0.02]))
                body = json.dumps(said).encode()
                try:
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # Who asked is dead.

            do_GET = do_POST = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def process_request(self, request: Any, client_address: Any) -> None:
                with world._changed:
                    world._busy += 1
                super().process_request(request, client_address)

            def shutdown_request(self, request: Any) -> None:
                super().shutdown_request(request)
                with world._changed:
                    world._busy -= 1
                    world._changed.notify_all()

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # Who asked is dead.

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def settle(self) -> None:
        """Wait until all is answered that a process asked before it died."""
        from urllib.request import urlopen

        urlopen(f"{self.url}/settle", timeout=60).close()  # Whatever came before has been accepted now.
        with self._changed:
            assert self._changed.wait_for(lambda: self._busy == 0, 60)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def world() -> Iterator[World]:
    made = World()
    try:
        yield made
    finally:
        made.close()


class KilledRun:
    """A run that is killed again and again, and what was seen of it."""

    def __init__(self, folder: Path, world: World, store: str) -> None:
        self.folder, self.world, self.store = folder, world, store
        self.said = ""
        self.kills = self.unknown = self.processes = 0
        self._recorded: dict[str, int] = {}
        folder.mkdir(exist_ok=True)
        source = SOURCE.replace("URL", world.url).replace("ROUNDS", str(ROUNDS))
        (folder / "main.conc").write_text(source)
        (folder / "Concerto.toml").write_text('[permissions]\nhttp = ["127.0.0.1"]\n')

    def go_on_to_the_end(self, chance: Random, kills: int) -> None:
        """Begin the run, and kill and resume it until it has ended."""
        runs = open_store(self.store)
        before = {each.id for each in runs.runs()}
        command = ["run", "--quiet", "main.conc"]
        while True:
            status = self._process(command, chance if self.kills < kills else None)
            self.processes += 1
            assert self.processes < 20 + 5 * kills, f"no end after {self.processes} processes: {command}"
            kept = [each for each in runs.runs() if each.id not in before]
            if not kept:
                continue  # Killed before it reached the world.
            [run] = kept
            self._compare(runs, run.id)
            if run.status == "done":
                break
            assert status in (3, -9), (status, run)
            command = ["resume", run.id]
            if unknown := [each for each in run.waits_for if each["kind"] == "unknown"]:
                where = place_of(unknown[0]["arguments"])
                self.unknown += 1
                # A person looks whether it was done.
                command += ["--effect", unknown[0]["effect"]]
                command += ["--happened", BY_HAND] if self.world.asked[where] else ["--repeat"]
        runs.close()

    def _process(self, command: list[str], killed_by: Random | None) -> int:
        """Runs a command, which is killed at any moment, mostly soon after it has asked for something."""
        environment = {
            **os.environ,
            "CONCERTO_STORE": self.store,
            "CONCERTO_STATE": str(self.folder / "state"),
        }
        seen = self.world.asked.total()
        process = subprocess.Popen(
            [sys.executable, "-m", "concerto.cli", *command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if killed_by is not None:
            if killed_by.random() < 0.8:
                while self.world.asked.total() == seen and process.poll() is None:
                    time.sleep(0.002)
                time.sleep(killed_by.random() * 0.06)
            else:
                time.sleep(killed_by.random())
            process.kill()
            self.kills += 1
        out, err = process.communicate(timeout=300)
        self.said += out.decode()
        assert process.returncode in (0, 3, -9), err.decode()
        self.world.settle()
        return process.returncode

    def _compare(self, runs: RunStore, run: str) -> None:
        """Whether nothing recorded was asked again, and all that is in flight is told as unknown."""
        asked = self.world.asked
        told = {place_of(each["arguments"]) for each in runs.get(run).waits_for if each["kind"] == "unknown"}
        ended = set()
        for row in runs.effects(run):
            if row.state == "done" and row.kind in ("Http", "ModelCall"):
                where = place_of(row.request if row.kind == "Http" else self._prompt(runs, run, row))
                ended.add(where)
                assert self._recorded.setdefault(where, asked[where]) == asked[where], where
        for where, count in asked.items():
            if where.startswith("/write/"):
                assert count == 1, where
                assert where in ended or where in told, where

    def _prompt(self, runs: RunStore, run: str, row: Any) -> str:
        from concerto.journal.encoding import Blobs, shown_request

        return shown_request(row.request, Blobs(runs.store.blobs(run)))

    def check_the_end(self) -> None:
        """Everything was done, what must not be repeated once; everything was said."""
        asked = self.world.asked
        for n in range(ROUNDS):
            assert [asked[f"/write/{n}.{each}"] for each in range(3)] == [1, 1, 1], n
            assert asked[f"/read/{n}"], n
            assert asked[f"/say/{n}"], n
            assert f"said {n}: heard number {n}.\n" in self.said, n
        assert self.said.endswith("all is done\n")


def place_of(arguments: Any) -> str:
    """What of the world an effect is about."""
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if found := re.findall(r"/(?:read|write)/[\d.]+", told):
        return str(found[0])
    [number] = re.findall(r"number (\d+)\.", told)
    return f"/say/{number}"


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.journal.killing")
    given.add_argument("--kills", type=int, default=100)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--store", help="a file below a folder of its own is used without it")
    options = given.parse_args()
    kills = runs = unknown = 0
    seed = options.seed
    while kills < options.kills:
        with world() as made, tempfile.TemporaryDirectory() as folder:
            run = KilledRun(Path(folder) / "p", made, options.store or f"sqlite:{folder}/runs.db")
            run.go_on_to_the_end(Random(seed), min(20, options.kills - kills))
            run.check_the_end()
        kills, runs, unknown, seed = kills + run.kills, runs + 1, unknown + run.unknown, seed + 1
        print(f"{kills} kills, {runs} runs, {unknown} effects of unknown outcome decided", flush=True)


if __name__ == "__main__":
    main()

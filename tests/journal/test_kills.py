"""Processes killed at any moment: nothing that is recorded is asked again, nothing is done twice."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from concerto import open_store

SOURCE = """
use std::tools::HttpTool;
fn main(args: Array<String>) -> Result<Nil, ToolError> {
    for n in 0..12 {
        let read = HttpTool.get("${args[0]}/read/${n}")?;
        println("read ${n}: ${read}");
        parallel for each in 0..3 { HttpTool.post("${args[0]}/write/${n}.${each}", {"n": n}) };
    }
    println("all is done");
    Ok(nil)
}
"""


class World:
    """A server that counts what it is asked for, and answers after a moment."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        world = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                world.asked[self.path] += 1
                time.sleep(0.003)
                body = json.dumps(self.path).encode()
                try:
                    self.send_response(200)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # Who asked is dead.

            do_GET = do_POST = answer  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.server.shutdown()
    made.server.server_close()


def go_on_to_the_end(folder: Path, world: World, chance: random.Random, store: str, *, kills: int) -> str:
    """Run the program and kill it at random moments until it has ended; all that it has printed."""
    (folder / "main.conc").write_text(SOURCE)
    (folder / "Concerto.toml").write_text('[permissions]\nhttp = ["127.0.0.1"]\n')
    environment = {**os.environ, "CONCERTO_STORE": store, "CONCERTO_STATE": str(folder / "state")}
    command = ["run", "--quiet", "main.conc", "--", world.url]
    said, runs = "", open_store(store)
    while True:
        process = subprocess.Popen(
            [sys.executable, "-m", "concerto.cli", *command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if kills > 0:
            time.sleep(chance.random())
            process.kill()
            kills -= 1
        out, err = process.communicate(timeout=120)
        said += out.decode()
        assert process.returncode in (0, 3, -9), err.decode()
        kept = runs.runs()
        if not kept:
            continue  # Killed before it reached the world.
        [run] = kept
        if run.status == "done":
            assert process.returncode in (0, -9)
            runs.close()
            return said
        command = ["resume", run.id]
        if unknown := [each for each in run.waits_for if each["kind"] == "unknown"]:
            [where] = re.findall(r"/write/[\d.]+", json.dumps(unknown[0]["arguments"]))
            # A person looks whether it was done.
            command += ["--effect", unknown[0]["effect"]]
            command += ["--happened", '"by hand"'] if world.asked[where] else ["--repeat"]


@pytest.mark.skipif(
    "CONCERTO_KILLS" not in os.environ,
    reason="a run that was killed and decided on several times may still be told that it diverged",
)
def test_a_run_that_is_killed_again_and_again_does_everything_once(
    tmp_path: Path, world: World, url: str
) -> None:
    go_on_to_the_end(tmp_path, world, random.Random(5), url, kills=8)
    written = {path: count for path, count in world.asked.items() if path.startswith("/write")}
    assert written == {f"/write/{n}.{each}": 1 for n in range(12) for each in range(3)}
    runs = open_store(url)
    effects = runs.effects(runs.runs()[0].id)
    runs.close()
    read = [row for row in effects if "/read/" in row.request]
    attempts = sum(row.attempt for row in read)
    assert sum(count for path, count in world.asked.items() if path.startswith("/read")) <= attempts
    assert len(read) == 12

"""Real workers: processes that share a database."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from concerto import RunStore, compile_file, open_store
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import StoredRun
from concerto.workers.dispatcher import Job
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from concerto.workers.submitting import submit

_ANY = Job("")


class Farm:
    """A project in a folder, a store, and the workers that serve it."""

    def __init__(self, folder: Path, url: str, source: str, manifest: str = "") -> None:
        self.folder, self.url = folder, url
        folder.mkdir(exist_ok=True)
        (folder / "main.conc").write_text(source)
        (folder / "Concerto.toml").write_text(manifest)
        self.workers: list[subprocess.Popen[bytes]] = []

    def command(self, *arguments: str) -> str:
        """What a command prints; it has to end well."""
        done = subprocess.run(
            [sys.executable, "-m", "concerto.cli", *arguments],
            cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def submit(self, *arguments: str, job: Job = _ANY) -> str:
        """A run of the project's program, with so many arguments."""
        with self.store() as runs:
            dispatcher = PostgresDispatcher(runs.store.database)
            program = compile_file(self.folder / "main.conc")
            return submit(runs, dispatcher, program, RunOptions(args=arguments, echo=True, quiet=True), job)

    def begin_worker(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        log = (self.folder / f"worker{len(self.workers)}.log").open("wb")
        worker = subprocess.Popen(
            [sys.executable, "-m", "concerto.cli", "worker", *arguments],
            cwd=self.folder, env=self._environment | environment, stdout=log, stderr=log,
        )  # fmt: skip
        log.close()
        self.workers.append(worker)
        return worker

    def log(self) -> str:
        """What all workers have said."""
        return "".join([file.read_text() for file in sorted(self.folder.glob("worker*.log"))])

    def wait(self, holds: Callable[[list[StoredRun]], bool], seconds: float = 240) -> list[StoredRun]:
        """The runs, as soon as something holds of them."""
        ends = time.monotonic() + seconds
        with self.store() as store:
            while not holds(runs := store.runs()):
                assert time.monotonic() < ends, f"{runs}\n{self.log()}"
                time.sleep(0.05)
        return runs

    def wait_for(self, run: str, status: str) -> StoredRun:
        found = self.wait(lambda runs: any((each.id, each.status) == (run, status) for each in runs))
        return next(each for each in found if each.id == run)

    @contextmanager
    def store(self) -> Iterator[RunStore]:
        """The store, for a while."""
        opened = open_store(self.url)
        try:
            yield opened
        finally:
            opened.close()

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait(timeout=120)

    def __enter__(self) -> Farm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "CONCERTO_STORE": self.url, "CONCERTO_STATE": str(self.folder / "state")}

"""`share = true`: one server for all runs of a process, ended with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from concerto.runtime.mcp import sharing
from concerto.runtime.mcp.sharing import close_shared
from tests.mcp.peers import processes_with, scripted
from tests.runtime.running import make_runtime

SOURCE = """
mcp Odd {
    @describe("Who") fn pid() -> Result<String, ToolError>;
    @describe("Dies") fn die() -> Result<String, ToolError>;
    @describe("Sleeps") @timeout(seconds: 0.5) fn sleep() -> Result<String, ToolError>;
}
fn main() { %s }
"""
PID = 'emit("pid", Odd.pid().unwrap());'


@pytest.fixture(autouse=True)
def _closed(mark: str) -> Iterator[None]:
    yield
    close_shared()


def said(mark: str, body: str = PID, share: bool = True) -> list[Any]:
    """What one run emits."""
    found: list[Any] = []
    servers = {"Odd": {"command": scripted("well", mark), "share": share}}
    runtime = make_runtime(SOURCE % body, manifest={"mcp": servers}, environment=os.environ, quiet=True)
    runtime.on("pid", found.append)
    assert runtime.run().status == 0
    return found


def test_runs_one_after_another_and_at_once_share_a_server(
    mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = said(mark)
    with ThreadPoolExecutor(8) as threads:
        others = list(threads.map(lambda _: said(mark), range(8)))
    assert others == [first] * 8
    assert len(processes_with(mark)) == 1
    assert said(mark, share=False) != first
    assert len(processes_with(mark)) == 1
    close_shared()
    assert processes_with(mark) == []
    assert said(mark) != first


def test_what_one_run_breaks_the_next_has_whole(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = said(mark)
    for _ in range(3):
        os.kill(int(first[0]), signal.SIGKILL)
        # Until the end of its output has been seen.
        while any(server.running for server in sharing._homes[0].servers.values()):
            time.sleep(0.05)
        again = said(mark)
        assert again != first
        first = again
    assert said(mark, f"Odd.sleep().is_err(); {PID}") == first
    said(mark, "Odd.die().is_err(); Odd.die().is_err();")
    assert said(mark) != first


def test_the_end_of_the_process_ends_the_server(mark: str) -> None:
    servers = {"Odd": {"command": scripted("well", mark), "share": True}}
    source = SOURCE % "println(Odd.pid().unwrap());"
    script = f"""
import os, sys
from tests.runtime.running import make_runtime
for _ in range(3):
    manifest = {{"mcp": {servers!r}}}
    make_runtime({source!r}, manifest=manifest, environment=os.environ, output=sys.stdout).run()
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(lines), len(set(lines))) == (0, "", 3, 1)
    assert processes_with(mark) == []

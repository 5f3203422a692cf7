"""Whatever ends a run, what it has started ends too, at once: also if nobody has time to clean up."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.running import is_gone
from tests.mcp.peers import processes_with, scripted

_MARK = "concerto-leftover-"

BUSY = {
    "a shell command": """
        use std::tools::ShellTool;
        fn main() {{
            let busy = r#"sh -c 'while true; do sleep 1; done' x {mark} & wait"#;
            ShellTool.exec(busy, 60000).unwrap();
        }}
    """,
    "an MCP server": """
        mcp Odd {{
            transport: "stdio", command: {command},
            @describe("Does not listen") fn deaf() -> Result<String, ToolError>;
        }}
        fn main() {{ Odd.deaf().unwrap(); }}
    """,
    "a host": """
        host Worker {{ connector: worker }}
        fn main() {{ Worker.execute("x").unwrap(); }}
    """,
}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGABRT])
@pytest.mark.parametrize("busy", BUSY)
def test_nothing_outlives_a_run(tmp_path: Path, busy: str, number: signal.Signals) -> None:
    mark = f"{_MARK}{os.getpid()}-{time.monotonic_ns()}"
    command = json.dumps(scripted("well", mark))
    (tmp_path / "main.conc").write_text(BUSY[busy].format(mark=mark, command=command))
    loop = "while true; do sleep 1; done"
    (tmp_path / "Concerto.toml").write_text(
        "[permissions]\nShellTool = true\n"
        f'[hosts.worker]\ncommand = "sh"\nargs = ["-c", "{loop}", "x", "{mark}"]\n'
    )
    # Whoever runs the tests may not want to be told that the terminal is gone.
    start = f"import signal; signal.signal({int(signal.SIGHUP)}, signal.SIG_DFL)\n"
    start += "from concerto.cli.entry import concerto; concerto()"
    with subprocess.Popen(
        [sys.executable, "-c", start, "run", "--quiet", "main.conc"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            assert _within(240, lambda: len(processes_with(mark)) > 0)
            time.sleep(0.3)  # Until it is in the middle of its work.
            process.send_signal(number)
            process.wait(120)
        finally:
            process.kill()
    left = _within(240, lambda: processes_with(mark) == [])
    for each in processes_with(mark):
        os.kill(each, signal.SIGKILL)
    assert left


def test_nohup_means_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(
        "use std::time;\nfn main() { println(0); time::sleep(1500); println(1); }"
    )
    start = "from concerto.cli.entry import concerto; concerto()"
    with subprocess.Popen(
        ["nohup", sys.executable, "-c", start, "run", "main.conc"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"0\n"
        process.send_signal(signal.SIGHUP)
        assert process.communicate(timeout=240)[0] == b"1\n"


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


BEGINNING = """
import asyncio, os, signal, sys, time
from pathlib import Path
from concerto.runtime.io.process_groups import start_group

async def main():
    command = 'trap "" TERM; sleep 60 & echo $! > made; mv made child; wait'
    task = asyncio.ensure_future(start_group("sh", "-c", command))
    await asyncio.sleep(0)
    while not Path("child").exists():
        time.sleep(0.01)  # Others of the run are busy, so nobody was given the process yet.
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    task.cancel()
    await asyncio.wait([task])
    print(task.cancelled())

asyncio.run(main())
"""


@pytest.mark.parametrize("how", ["killed", "cancelled"])
def test_who_ends_while_a_process_begins_leaves_nothing(tmp_path: Path, how: str) -> None:
    begun = subprocess.run(
        [sys.executable, "-W", "error", "-c", BEGINNING, how],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    child = int((tmp_path / "child").read_text())
    gone = _within(240, lambda: is_gone(child))
    if not gone:
        os.kill(child, signal.SIGKILL)
    assert gone
    assert (begun.stdout, begun.stderr) == ("" if how == "killed" else "True\n", "")


AT_ONCE = """
import asyncio, os, signal, sys, threading, time
from pathlib import Path
from concerto.runtime.io import process_groups

write = os.write

def write_late(*arguments):  # As on a machine with more to do.
    time.sleep(0.05)
    return write(*arguments)

os.write = write_late
ready = threading.Barrier(20)
failed = []

def start(number):
    ready.wait()
    time.sleep(number / 100)
    try:
        asyncio.run(process_groups.start_group("sh", "-c", "sleep 60 & wait", "x", sys.argv[1]))
    except BaseException as error:
        failed.append(repr(error))

threads = [threading.Thread(target=start, args=(number,)) for number in range(20)]
for each in threads:
    each.start()
for each in threads:
    each.join()
watching = 0
for folder in Path("/proc").glob("[0-9]*"):
    try:
        parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        watching += parent == os.getpid() and "while read -r sign group" in (folder / "cmdline").read_text()
    except OSError:
        pass
print(failed, watching, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_threads_start_processes_at_once(tmp_path: Path) -> None:
    """One watches over all of them."""
    mark = f"{_MARK}{os.getpid()}-{time.monotonic_ns()}"
    begun = subprocess.run(
        [sys.executable, "-W", "error", "-c", AT_ONCE, mark],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=240,
    )
    left = _within(240, lambda: processes_with(mark) == [])
    for each in processes_with(mark):
        os.kill(each, signal.SIGKILL)
    assert (left, begun.stdout) == (True, "[] 1\n")

"""Ctrl-C: all work stops at once, whatever it is, with one line and status 130."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from concerto.effects.permissions import Permissions
from concerto.runtime.concurrency.waiting import LoopWaiting
from concerto.runtime.io.sqlite import StoreFiles
from concerto.runtime.run import interrupt, lifecycle
from tests.harness.interrupts import without_resuming
from tests.hosts.running import is_gone
from tests.runtime.servers import Answer, Script, chat_reply

AGENT = """
use std::time;
connect here {{ provider: "custom", base_url: "{url}", default_model: "m" }}
agent Assistant {{ provider: here, tools: [Nap] }}
tool Nap {{
    description: "Naps",
    @describe("Nap")
    pub fn nap(self) -> String {{ println("napping"); time::sleep(60000); "slept" }}
    @describe("Spin")
    pub fn spin(self) -> Int {{ println("spinning"); let mut n = 0; loop {{ n = (n + 1) % 1000; }} }}
}}
fn main() {{ println("begin"); Assistant.execute("go").unwrap(); println("never"); }}
"""


@pytest.mark.parametrize("kind", ["model", "tool", "loop"])
def test_work_of_every_kind_is_interrupted(tmp_path: Path, script: Script, kind: str) -> None:
    match kind:
        case "model":
            script.answer(Answer(chat_reply("late"), hang=20))
            sign = "begin"
        case "tool":
            script.answer(chat_reply(None, ("1", "Nap__nap", "{}"), ("2", "Nap__nap", "{}")))
            sign = "napping"
        case _:
            script.answer(chat_reply(None, ("1", "Nap__spin", "{}")))
            sign = "spinning"
    program = tmp_path / "main.conc"
    program.write_text(AGENT.format(url=script.url))
    with subprocess.Popen(
        [sys.executable, "-m", "concerto.cli", "run", "--quiet", str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        interrupted_after(process, sign)


def interrupted_after(process: subprocess.Popen[str], sign: str) -> None:
    """Interrupt a run that has printed a line, and see it end."""
    assert process.stdout is not None
    lines = []
    while sign not in lines:
        line = process.stdout.readline()
        assert line, process.communicate(timeout=120)
        lines.append(line.strip())
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()  # Whoever leaves a `with` of it waits for its end, without a limit.
    assert (process.returncode, without_resuming(err)) == (130, "error: interrupted\n")
    assert "never" not in out


MANIFEST = """
[connections.line]
provider = "custom"
base_url = "URL"
default_model = "m"
rate_limit = { concurrent_requests = 1 }
[hosts.deaf]
command = "PYTHON"
args = ["deaf.py"]
[permissions]
ShellTool = true
http = ["127.0.0.1"]
"""
DEAF = """
import os, signal, sys, time
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
open("deaf.pid", "w").write(str(os.getpid()))
while True:
    time.sleep(60)
"""
HANDLERS = """
import asyncio
async def never(payload):
    await asyncio.Event().wait()
HANDLERS = {"approval": never}
"""
KINDS = ("sleep", "http", "emit", "host", "shell", "line", "race", "task", "spin", "lock", "write")
WAITING = """
use std::time;
use std::http;
use std::tools::ShellTool;
agent Asked { provider: line }
host Deaf { connector: deaf, timeout: 600 }
hashmap kept: HashMap<String, Int> = HashMap::new().with_persistence("kept.db");
fn wait(kind: String, n: Int) {
    match kind {
        "sleep" => time::sleep(600000),
        "http" => { http::get("URL").unwrap(); }
        "emit" => { let _ = await emit("approval", n); }
        "host" => { Deaf.execute("${n}").unwrap(); }
        "shell" => { ShellTool.exec("sleep 600").unwrap(); }
        "line" => { Asked.execute("${n}").unwrap(); }
        "race" => { race (time::sleep(600000), { time::sleep(600000); }); }
        "task" => { let task = spawn time::sleep(600000); task.await; }
        "spin" => { let mut k = 0; loop { k = (k + 1) % 7; } }
        "lock" => kept.set("${n}", n),
        "write" => { let mut k = 0; loop { kept.set("${n}", k); k += 1; } }
        _ => panic("unknown"),
    }
}
fn main() {
    println("begin ${kept.len()}");
    parallel for n in 0..5 { wait(env("KIND").unwrap(), n); };
    println("never");
}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_wait_in_branches_is_interrupted(tmp_path: Path, script: Script, kind: str) -> None:
    script.answer(Answer(chat_reply("late"), hang=20))
    texts = {
        "main.conc": WAITING.replace("URL", script.url),
        "Concerto.toml": MANIFEST.replace("URL", script.url).replace("PYTHON", sys.executable),
        "deaf.py": DEAF,
        "handlers.py": HANDLERS,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "concerto.cli", "run", "--quiet", "--handlers", "handlers.py"]
    with (
        writing(tmp_path / "kept.db", held=kind == "lock"),
        subprocess.Popen(
            [*command, "main.conc"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "KIND": kind},
        ) as process,
    ):
        interrupted_after(process, "begin 0")
    number = tmp_path / "deaf.pid"
    # It may have been ended before it could tell its number.
    if number.exists() and number.read_text():
        assert is_gone(int(number.read_text()))


@contextmanager
def writing(path: Path, *, held: bool) -> Iterator[None]:
    """An empty file of a hashmap, to which somebody else is writing all the time if `held`."""
    files = StoreFiles(Permissions(files=(path.parent,), folder=path.parent), lambda: None)
    files.load(path.name)
    files.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        if held:
            other.execute("BEGIN IMMEDIATE")
        yield


def test_what_is_forced_late_harms_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who forces a run to end may be held up after it was seen to compute, until it has ended."""

    lengths = iter(range(0, 3000, 10))

    def start() -> None:
        for number in range(next(lengths)):
            str(number)

    def computes(thread: int) -> bool:
        frame = sys._current_frames().get(thread)
        while frame is not None and frame.f_code is not start.__code__:
            frame = frame.f_back
        time.sleep(0.0002)
        return frame is not None

    monkeypatch.setattr(interrupt, "_PATIENCE", 0.00001)
    monkeypatch.setattr(interrupt, "_computes", computes)
    monkeypatch.setattr(lifecycle, "_limit_hit", lambda *given: "time")
    ended: list[lifecycle.Ended] = []

    def work() -> None:
        for _ in range(300):
            ended.append(lifecycle.run_to_end(start, lambda: None, 1))

    # Not here: what would never end is to fail this test.
    thread = threading.Thread(target=work, daemon=True)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        thread.join(120)
    finally:
        sys.setswitchinterval(usual)
    assert [each.timed_out for each in ended] == [True] * 300


def test_a_run_is_stopped_from_elsewhere_as_its_loop_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.new_event_loop()
    task = loop.create_task(asyncio.sleep(0))
    loop.run_until_complete(task)
    waiting = LoopWaiting()
    waiting.begin(task)
    loop.close()
    # It closes just after somebody has looked.
    monkeypatch.setattr(loop, "is_closed", lambda: False)
    waiting.interrupt()
    assert waiting.stopping


def test_who_was_forced_may_be_profiled_afterwards() -> None:
    """Python 3.11 never comes to the end of this generator if it is left to look for an exception."""
    code = """
        import sys
        from concerto.runtime.run.done import Done

        done = Done()
        done.forced = True
        done.leave()
        sys.setprofile(lambda *told: None)
        print(list(each for each in "ab"))
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (told.stdout, told.stderr) == ("['a', 'b']\n", "")


def test_a_run_is_interrupted_at_every_moment_of_waiting_for_it() -> None:
    """Wherever Python looks for signals, of which some places lie between taking a lock and letting it go."""
    code = """
        import dis, sys, threading
        from concerto.runtime.run import lifecycle

        LOOKS = {"CALL", "CALL_FUNCTION_EX", "RESUME", "JUMP_BACKWARD"}

        def interrupted_at(number):
            last, seen = {}, 0

            def trace(frame, event, _):
                nonlocal seen
                if frame.f_code.co_name != "_limit_hit" and frame.f_back not in last:
                    return None
                frame.f_trace_opcodes = True
                before = last.get(frame)
                last[frame] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
                if event == "opcode" and before in LOOKS:
                    seen += 1
                    if seen == number:
                        sys.settrace(None)
                        raise KeyboardInterrupt
                return trace

            going = threading.Lock()
            going.acquire()
            sys.settrace(trace)
            return lifecycle.run_to_end(going.acquire, going.release, None).by_signal

        lifecycle._SIGNALS_EVERY = 0.001
        print([number for number in range(1, 61) if not interrupted_at(number)])
    """
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (told.stdout, told.stderr) == ("[]\n", "")

"""Ctrl-C at any moment: status 130 and one line, whatever the command was just doing."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.commands import environment
from tests.hosts.running import is_gone

HEAD = """
import atexit, os, signal, sys

def press():
    os.kill(os.getpid(), signal.SIGINT)

class AtImport:
    def __init__(self, name):
        self.name = name
    def find_spec(self, name, path=None, target=None):
        if self.name is None:
            print(name, file=sys.stderr)
        elif name == self.name:
            act()
"""
START = "\nfrom concerto.cli.entry import concerto\nconcerto()\n"
INTERRUPTED = re.compile(r"error: interrupted\n(resume with: concerto resume \w+\n)?")
"""Of a run that has asked the world, also how it goes on."""
PROGRAM = 'agent A { provider: mock, model: "m" }\n\nfn main() { println(A.execute("hi").unwrap().text); }\n'


def finished(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HEAD + code + START, *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=240)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCERTO_CACHE", str(tmp_path / "cache"))
    (tmp_path / "main.conc").write_text(PROGRAM)
    return tmp_path


ACTS = {
    "raised": "act = press",
    "in a place where nothing can be raised": "class Lost:\n    def __del__(self): press()\nact = Lost",
    "while a class is made": "class Part:\n    def __set_name__(self, *_): press()\n"
    "def act(): type('Whole', (), {'part': Part()})",
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("arguments", [["run", "main.conc"], ["run", "--quiet", "."]])
def test_while_the_command_loads(folder: Path, arguments: list[str], act: str) -> None:
    """Every module that a start loads, a few of them at each run of this test's loop."""
    for _ in range(2):  # compiled, then from the cache
        listing = "act = lambda: None\nsys.meta_path.insert(0, AtImport(None))"
        asked = finished(folder, listing, *arguments).stderr.split()
    modules = asked[asked.index("concerto.cli.dispatch") :]
    assert "concerto.vm.machine" in modules and "concerto.runtime.agents" in modules
    for name in modules[:: len(modules) // 6]:
        done = finished(folder, f"{ACTS[act]}\nsys.meta_path.insert(0, AtImport({name!r}))", *arguments)
        assert done.returncode == 130 and INTERRUPTED.fullmatch(done.stderr), (name, done.stderr)


def test_while_python_shuts_down(folder: Path) -> None:
    done = finished(folder, "atexit.register(press)", "run", "main.conc")
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
    assert done.stdout.endswith("[mock response to: hi]\n")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("delay", [0.02, 0.05, 0.08, 0.12])
def test_after_any_time(folder: Path, delay: float) -> None:
    """Of the processor, so that a machine with much to do does not press before Python has come to us."""
    (folder / "main.conc").write_text("fn main() { loop { } }\n")
    done = finished(
        folder,
        f"signal.signal(signal.SIGPROF, lambda *_: press())\nsignal.setitimer(signal.ITIMER_PROF, {delay})",
        "run",
        "main.conc",
    )
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


SLOW_SERVER = '[mcp.slow]\ntransport = "stdio"\ncommand = "sh"\nargs = ["-c", "{script}"]\n'
USES_A_SERVER = (
    'mcp slow {\n    @describe("x")\n    fn f() -> Result<String, ToolError>;\n}\n\n'
    'fn main() {\n    println("begun");\n    let _ = slow.f();\n}\n'
)


def test_while_a_server_starts(folder: Path) -> None:
    """One that never answers and does not listen to SIGTERM: it is gone with the command."""
    script = f"trap '' TERM; echo $$ > {folder}/pid; while true; do sleep 0.1; done"
    (folder / "Concerto.toml").write_text(SLOW_SERVER.format(script=script))
    (folder / "main.conc").write_text(USES_A_SERVER)
    watch = (
        "import threading, time\n"
        "def watch():\n    while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)\n"
        "    press()\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
    )
    done = finished(folder, watch, "run", ".")
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
    assert is_gone(int((folder / "pid").read_text()))


def test_while_a_library_loads_in_the_run(folder: Path) -> None:
    """What takes a while to be loaded is not loaded to its end: the client of MCP servers."""
    (folder / "Concerto.toml").write_text(SLOW_SERVER.format(script="touch started; sleep 100"))
    (folder / "main.conc").write_text(USES_A_SERVER)
    (folder / "mcp.py").write_text("import time\nopen('loading', 'w')\nwhile True: time.sleep(0.01)\n")
    watch = (
        "import threading, time\n"
        "def watch():\n    while not os.path.exists('loading'): time.sleep(0.01)\n    press()\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
    )
    done = finished(folder, watch, "run", ".")
    assert (done.returncode, done.stdout, done.stderr) == (130, "begun\n", "error: interrupted\n")
    assert not (folder / "started").exists()

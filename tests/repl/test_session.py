"""`concerto repl`, through a pseudo-terminal and through a pipe."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

COMMAND = [sys.executable, "-m", "concerto.cli", "repl"]


def piped(*lines: str) -> subprocess.CompletedProcess[str]:
    text = "\n".join(lines) + "\n"
    return subprocess.run(COMMAND, input=text, capture_output=True, text=True, timeout=60, check=False)


def test_values_statements_and_declarations() -> None:
    done = piped(
        "1 + 2",
        '"a"',
        "let mut v = [1]",
        "v.push(2)",
        "fn double(n: Int) -> Int {",
        "    n * 2",
        "}",
        "double(v[1])",
        "struct P { x: Int }",
        "let p = P { x: 1 }",
        "p",
        "for i in 0..2 { println(i) }",
        "v",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["3", '"a"', "4", "P { x: 1 }", "0", "1", "[1, 2]"]


def test_an_error_keeps_the_session() -> None:
    done = piped("let a = 1", "b", "[1][a]", 'panic("oh")', "let c: Int = true", ":nope", "a")
    assert done.stdout.splitlines()[-1] == "1"
    for part in ("unknown name `b`", "index 1 is out of bounds", "panic: oh", "E0301", "no command `:nope`"):
        assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_what_was_done_is_not_done_again() -> None:
    done = piped('println("once")', "use std::time;", "let t = time::now_ms()", "time::sleep(20)", "t", "t")
    first, second = done.stdout.splitlines()[1:]
    assert done.stdout.count("once") == 1
    assert first == second


def test_types_bytecode_and_help() -> None:
    done = piped("let v = [1]", ":type v", ":ir 1 + 1", ":help")
    assert done.stdout.startswith("Array<Int>\n")
    assert "ADD_INT" in done.stdout and ":quit" in done.stdout


class Terminal:
    """The other end of a session's terminal."""

    def __init__(self, controller: int) -> None:
        self._controller = controller
        self._unread = ""

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def wait_for(self, wanted: str) -> None:
        """Read up to a text; what comes after it stays unread."""
        end = time.monotonic() + 30
        while wanted not in self._unread:
            assert time.monotonic() < end, f"no {wanted!r} in {self._unread!r}"
            if select.select([self._controller], [], [], 0.2)[0]:
                self._unread += os.read(self._controller, 4096).decode()
        self._unread = self._unread.partition(wanted)[2]


def test_at_a_terminal(tmp_path: Path) -> None:
    controller, worker = pty.openpty()
    environment = {**os.environ, "CONCERTO_STATE": str(tmp_path), "TERM": "dumb"}
    process = subprocess.Popen(COMMAND, stdin=worker, stdout=worker, stderr=worker, env=environment)
    os.close(worker)
    terminal = Terminal(controller)
    try:
        terminal.wait_for(">>> ")
        terminal.type("let answer = [\n")
        terminal.wait_for("... ")
        terminal.type("42]\n")
        terminal.wait_for(">>> ")
        terminal.type("answ\t\n")  # Tab completes the name.
        terminal.wait_for("[42]\r\n>>> ")
        terminal.type("1 + 1\n")
        terminal.wait_for("2\r\n>>> ")
        terminal.type("\x04")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    assert "answer" in (tmp_path / "repl_history").read_text()

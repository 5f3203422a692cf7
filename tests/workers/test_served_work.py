"""A server in front of workers: they do what goes on in the background, and the server tells of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import OpenAI

from tests.runtime.servers import Answer, Script, Seen
from tests.serving.servers import Served, answered, manifest, served
from tests.workers.processes import Farm

PROGRAM = """
tool Desk {
    description: "People",
    @describe("Asks them") @param("what", "the question")
    pub fn ask(what: String) -> Result<Any, EmitError> { await emit("asked", {"what": what}) }
}
agent Helper { provider: local, model: "m", tools: [Desk] }
fn main(args: Array<String>) -> Result<Any, EmitError> {
    emit("began", {"with": args});
    let allowed = await emit("allowed", {"n": 1})?;
    emit("heard", allowed);
    Ok(allowed)
}
"""


class Front:
    """A server that has a store in common with workers, and clients of it."""

    def __init__(self, server: Served) -> None:
        self.server = server
        self.openai = OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
        self.http = httpx2.Client(base_url=server.url, timeout=60)

    def background(self, said: str, **more: Any) -> str:
        return self.openai.responses.create(model="Helper", input=said, background=True, **more).id

    def events(self, response: str) -> list[Any]:
        """All of a background response, once it has ended."""
        return list(self.openai.responses.retrieve(response, stream=True))

    def run_events(self, run: str, *, until: str) -> list[str]:
        """The lines of data of a run up to the one that has a text."""
        lines: list[str] = []
        with self.http.stream("GET", f"/runs/{run}/events") as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    lines.append(line)
                    if until in line:
                        return lines
        raise AssertionError(lines)


@contextmanager
def front(farm: Farm, *options: str) -> Iterator[Front]:
    with served(farm.folder, "--store", farm.url, *options) as server:
        made = Front(server)
        try:
            yield made
        finally:
            made.openai.close()
            made.http.close()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Opens for the model's answers to `hold`."""
    opened = threading.Event()
    yield opened
    opened.set()


@pytest.fixture
def farm(tmp_path: Path, url: str, gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> Iterator[Farm]:
    monkeypatch.setenv("MODEL_KEY", "k")

    def reply(seen: Seen) -> Answer:
        if "hold" in str(seen.body["messages"][-1].get("content")):
            gate.wait(120)
        return answered(seen)

    with Script() as model, Farm(tmp_path / "p", url, PROGRAM, manifest(model.url)) as made:
        model.answer(reply)
        yield made


def owner(farm: Farm) -> int:
    """The process that drives the only run."""
    with farm.store() as runs:
        [row] = runs.store.runs()
        return int(row.owner.split(":")[1])


def test_a_response_in_the_background_outlives_its_server_and_its_worker(
    farm: Farm, gate: threading.Event
) -> None:
    with front(farm, "--queue", "default") as one:
        response = one.background("say hold on to it")
        farm.wait(lambda runs: [each.status for each in runs] == ["queued"])
        farm.begin_worker()
        farm.wait(lambda runs: [each.status for each in runs] == ["running"])
        first = owner(farm)
        one.server.process.kill()
    with front(farm) as other:
        assert other.openai.responses.retrieve(response).status == "queued"
        assert owner(farm) == first == farm.workers[0].pid
        farm.workers[0].kill()
        gate.set()
        farm.begin_worker()
        events = other.events(response)
        assert [each.sequence_number for each in events] == list(range(len(events)))
        assert events[-1].type == "response.completed"
        assert events[-1].response.output_text == "hold on to it"
        assert other.openai.responses.retrieve(response).output_text == "hold on to it"
        assert [each.queued + each.running for each in queues(farm)] == [0]


def test_a_response_that_waits_is_answered_and_goes_on_at_a_worker(farm: Farm) -> None:
    farm.begin_worker()
    farm_serves(farm)
    with front(farm) as one:
        asked = one.events(one.background('call Desk__ask {"what": "when?"}'))[-1].response
        [call] = asked.output
        assert (call.name, call.arguments) == ("asked", '{"what": "when?"}')
        output = {"type": "function_call_output", "call_id": call.call_id, "output": '"at noon"'}
        heard = one.background([output], previous_response_id=asked.id)  # type: ignore[arg-type]
        assert "at noon" in one.events(heard)[-1].response.output_text
        with farm.store() as runs:
            [row] = runs.store.runs()
        assert (row.status, row.origin) == ("done", "served")
        assert farm.log().count("is done") == 1


def test_runs_are_answered_and_cancelled_across(farm: Farm) -> None:
    farm.begin_worker()
    farm_serves(farm)
    with front(farm) as one:
        run, other = [one.http.post("/runs", json={"args": ["a"]}).json()["id"] for _ in range(2)]
        farm.wait(lambda runs: all(each.status == "waiting" for each in runs))
        shown = one.http.get(f"/runs/{run}").json()["waits_for"][0]
        given = {"call_id": shown["call_id"], "arguments": {"n": 1}, "answer": True}
        assert one.http.post(f"/runs/{run}/answers", json=given).status_code == 202
        assert one.http.post(f"/runs/{other}/cancel").json()["status"] == "cancelled"
        assert one.run_events(run, until="run:end")[1:] == [
            'data: {"channel": "allowed", "payload": {"n": 1}}',
            'data: {"channel": "heard", "payload": true}',
            'data: {"channel": "run:end", "payload": {"status": "done"}}',
        ]
        assert '"cancelled"' in one.run_events(other, until="run:end")[-1]
        farm.wait(lambda _: all(each.parked == 0 for each in queues(farm)))


def test_a_response_is_cancelled_wherever_it_is(farm: Farm, gate: threading.Event) -> None:
    farm.begin_worker()
    farm_serves(farm)
    with front(farm) as one:
        response = one.background("say hold")
        farm.wait(lambda runs: [each.status for each in runs] == ["running"])
        assert one.openai.responses.cancel(response).status == "cancelled"
        gate.set()
        farm.wait(lambda _: all(each.running == 0 for each in queues(farm)))
        assert one.openai.responses.retrieve(response).status == "cancelled"


def queues(farm: Farm) -> list[Any]:
    from concerto.workers.postgres_dispatcher import PostgresDispatcher

    with farm.store() as runs:
        return PostgresDispatcher(runs.store.database).queues()


def farm_serves(farm: Farm) -> None:
    """Wait until a worker is there."""
    farm.wait(lambda _: any(each.workers for each in queues(farm)))

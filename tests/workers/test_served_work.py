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

from concerto.workers.dispatcher import QueueState
from concerto.workers.postgres_dispatcher import PostgresDispatcher
from tests.postgres import Server
from tests.runtime.servers import Answer, Script, Seen
from tests.serving.servers import Served, answered, command, manifest, served
from tests.workers.processes import Farm

PROGRAM = """
tool Desk {
    description: "People",
    @describe("Asks them") @param("what", "the question")
    pub fn ask(what: String) -> Result<Any, EmitError> { await emit("asked", {"what": what}) }
}
agent Helper { provider: local, model: "m", tools: [Desk] }
fn main(args: Array<String>) -> Result<Any, EmitError> {
    println("began with ${args}");
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

    def background(self, said: Any, **more: Any) -> str:
        return str(self.openai.responses.create(model="Helper", input=said, background=True, **more).id)

    def events(self, response: str) -> list[Any]:
        """All of a background response, once it has ended."""
        return list(self.openai.responses.retrieve(response, stream=True))

    def run_events(self, run: str) -> list[str]:
        """The lines of data of a run, to its end."""
        with self.http.stream("GET", f"/runs/{run}/events") as answer:
            return [line for line in answer.iter_lines() if line.startswith("data: ")]


@contextmanager
def front(farm: Farm, *options: str) -> Iterator[Front]:
    with served(farm.folder, "--store", farm.url, *options) as server:
        made = Front(server)
        try:
            yield made
        finally:
            made.openai.close()
            made.http.close()


@pytest.fixture(scope="module")
def gate() -> threading.Event:
    """Open for the model's answers to `hold`."""
    return threading.Event()


@pytest.fixture(scope="module")
def model(gate: threading.Event) -> Iterator[Script]:
    def reply(seen: Seen) -> Answer:
        if "hold" in str(seen.body["messages"][-1].get("content")):
            gate.wait(120)
        return answered(seen)

    with Script() as model, pytest.MonkeyPatch.context() as patched:
        patched.setenv("MODEL_KEY", "k")
        model.answer(reply)
        yield model
        gate.set()


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory, postgres: Server, model: Script) -> Iterator[Farm]:
    """One with a worker."""
    folder = tmp_path_factory.mktemp("farm")
    with Farm(folder, postgres.new_database(), PROGRAM, manifest(model.url)) as made:
        made.begin_worker()
        made.wait(lambda _: any(each.workers for each in queues(made)))
        yield made


@pytest.fixture(scope="module")
def one(farm: Farm) -> Iterator[Front]:
    with front(farm) as made:
        yield made


def queues(farm: Farm) -> list[QueueState]:
    with farm.store() as runs:
        return PostgresDispatcher(runs.store.database).queues()


def test_a_response_in_the_background_outlives_its_server_and_its_worker(
    tmp_path: Path, url: str, model: Script, gate: threading.Event
) -> None:
    gate.clear()
    with Farm(tmp_path / "p", url, PROGRAM, manifest(model.url)) as farm:
        with front(farm, "--queue", "default") as one:
            response = one.background("say hold on to it")
            farm.wait(lambda runs: [each.status for each in runs] == ["queued"])
            first = farm.begin_worker()
            farm.wait(lambda runs: [each.status for each in runs] == ["running"])
            one.server.process.kill()
        with front(farm) as other:
            assert other.openai.responses.retrieve(response).status == "queued"
            with farm.store() as runs:
                assert f":{first.pid}:" in runs.store.runs()[0].owner
            first.kill()
            gate.set()
            farm.begin_worker()
            events = other.events(response)
            assert [each.sequence_number for each in events] == list(range(len(events)))
            assert events[-1].type == "response.completed"
            assert events[-1].response.output_text == "hold on to it"
            assert other.openai.responses.retrieve(response).output_text == "hold on to it"
            farm.wait(lambda _: [each.queued + each.running for each in queues(farm)] == [0])


def test_a_response_that_waits_is_answered_and_goes_on_at_a_worker(farm: Farm, one: Front) -> None:
    asked = one.events(one.background('call Desk__ask {"what": "when?"}'))[-1].response
    [call] = asked.output
    assert (call.name, call.arguments) == ("asked", '{"what": "when?"}')
    run = call.call_id.split("_")[1]
    for refused in (("runs", "answer", run, 'asked="never"'), ("resume", run, "--answer", 'asked="never"')):
        told = command(farm.folder, *refused, store=farm.url)
        assert told.returncode in (1, 2)
        assert f"the call `{call.call_id}`" in told.stderr
    output = {"type": "function_call_output", "call_id": call.call_id, "output": '"at noon"'}
    heard = one.background([output], previous_response_id=asked.id)
    assert "at noon" in one.events(heard)[-1].response.output_text
    farm.wait(lambda _: f"{run} is done" in farm.log())


def test_runs_are_answered_and_cancelled_across(farm: Farm, one: Front) -> None:
    run, other = [one.http.post("/runs", json={"args": ["a"]}).json()["id"] for _ in range(2)]
    for each in (run, other):
        farm.wait_for(each, "waiting")
    shown = one.http.get(f"/runs/{run}").json()["waits_for"][0]
    given = {"call_id": shown["call_id"], "arguments": {"n": 1}, "answer": True}
    assert one.http.post(f"/runs/{run}/answers", json=given).status_code == 202
    assert one.http.post(f"/runs/{other}/cancel").json()["status"] == "cancelled"
    assert one.run_events(run)[1:] == [
        'data: {"channel": "allowed", "payload": {"n": 1}}',
        'data: {"channel": "heard", "payload": true}',
        'data: {"channel": "run:end", "payload": {"status": "done"}}',
    ]
    assert '"cancelled"' in one.run_events(other)[-1]
    assert farm.log().count(f"{run} | began with") == 1
    farm.wait(lambda _: all(each.parked == 0 for each in queues(farm)))


def test_a_response_is_cancelled_wherever_it_is(farm: Farm, one: Front, gate: threading.Event) -> None:
    gate.clear()
    response = one.background("say hold")
    farm.wait(lambda runs: any(each.status == "running" for each in runs))
    assert one.openai.responses.cancel(response).status == "cancelled"
    gate.set()
    farm.wait(lambda _: all(each.running == 0 for each in queues(farm)))
    assert one.openai.responses.retrieve(response).status == "cancelled"

"""Tools of an agent that ask somebody while they run: the question goes out as a call over every front, and
the run goes on with the answer of the caller who was asked."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.runtime.servers import Script
from tests.serving.servers import Served, command, project, served
from tests.serving.test_ag_ui import kinds

PROGRAM = """
tool Cash {
    description: "Cash",
    @describe("Pays back") @param("order", "which")
    pub fn refund(order: String) -> String {
        let first = await emit("approve.refund", {"order": order});
        match first {
            Ok(yes) => "refund of ${order}: ${yes}",
            Err(error) => "nobody: ${error.kind}",
        }
    }
    @describe("Pays back after two questions") @param("order", "which")
    pub fn twice(order: String) -> String {
        let first = (await emit("first", order)).unwrap();
        println("first of ${order} is ${first}");
        let second = (await emit("second", order)).unwrap();
        "${first} ${second}"
    }
}
agent Clerk { provider: local, model: "m", tools: [Cash] }
"""
ANN, BOB = {"authorization": "Bearer ann"}, {"authorization": "Bearer bob"}
ASK = 'call Cash__refund {"order": "7"}'


@pytest.fixture(scope="module")
def folder(model: Script, tmp_path_factory: pytest.TempPathFactory) -> Path:
    more = '[serve]\ntokens_env = "TOKENS"\n'
    return project(tmp_path_factory.mktemp("waiting"), model.url, PROGRAM, more)


@pytest.fixture(scope="module")
def clerk(folder: Path) -> Iterator[Served]:
    with served(folder, environment={"TOKENS": "ann,bob"}) as running:
        yield running


def post(server: Served, path: str, body: Any, headers: dict[str, str] = ANN) -> httpx2.Response:
    return httpx2.post(f"{server.url}{path}", json=body, headers=headers, timeout=120)


def ask(server: Served, text: str = ASK, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = post(server, "/v1/responses", {"model": "Clerk", "input": text, **more}).json()
    return body


def output(call: dict[str, Any], text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call["call_id"], "output": text}


def test_a_question_goes_out_and_its_answer_comes_back(clerk: Served) -> None:
    first = ask(clerk)
    (call,) = first["output"]
    assert (call["type"], call["name"], json.loads(call["arguments"])) == (
        "function_call",
        "approve_refund",
        {"order": "7"},
    )
    answer = {"model": "Clerk", "previous_response_id": first["id"], "input": [output(call, "true")]}
    second = post(clerk, "/v1/responses", answer).json()
    assert [item["content"][0]["text"] for item in second["output"]] == ["given refund of 7: true"], second
    assert second["usage"]["input_tokens"] == first["usage"]["input_tokens"]
    used = post(clerk, "/v1/responses", answer)
    assert (used.status_code, used.json()["error"]["code"]) == (409, "already_answered")
    more = {"model": "Clerk", "previous_response_id": second["id"], "input": "Thanks"}
    third = post(clerk, "/v1/responses", more).json()
    assert third["output"][0]["content"][0]["text"] == (
        f"user: {ASK} | assistant: None | tool: refund of 7: true | "
        "assistant: given refund of 7: true | user: Thanks"
    )


def test_a_stream_tells_only_what_is_new(clerk: Served) -> None:
    def events(body: Any) -> list[Any]:
        text = post(clerk, "/v1/responses", {"model": "Clerk", "stream": True, **body}).text
        return [
            json.loads(line.removeprefix("data: "))
            for line in text.splitlines()
            if line.startswith("data: {")
        ]

    first = events({"input": ASK})[-1]["response"]
    told = events({"previous_response_id": first["id"], "input": [output(first["output"][0], "false")]})
    deltas = [event["delta"] for event in told if event["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "given refund of 7: false"
    assert [event["sequence_number"] for event in told] == list(range(len(told)))


def test_questions_may_follow_each_other_without_a_stored_response(clerk: Served) -> None:
    items: list[Any] = [{"role": "user", "content": 'call Cash__twice {"order": "7"}'}]
    for said in ("one", "two"):
        response = post(clerk, "/v1/responses", {"model": "Clerk", "store": False, "input": items}).json()
        (call,) = response["output"]
        assert json.loads(call["arguments"]) == {"payload": "7"}
        items += [call, output(call, said)]
    last = post(clerk, "/v1/responses", {"model": "Clerk", "store": False, "input": items}).json()
    assert last["output"][0]["content"][0]["text"] == "given one two"


def test_chat_completions(clerk: Served) -> None:
    messages: list[Any] = [{"role": "user", "content": ASK}]
    first = post(clerk, "/v1/chat/completions", {"model": "Clerk", "messages": messages}).json()
    choice = first["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    (call,) = choice["message"]["tool_calls"]
    messages += [choice["message"], {"role": "tool", "tool_call_id": call["id"], "content": "true"}]
    text = post(clerk, "/v1/chat/completions", {"model": "Clerk", "messages": messages, "stream": True}).text
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    said = "".join([chunk["choices"][0]["delta"].get("content", "") for chunk in chunks])
    assert said == "given refund of 7: true"


def test_ag_ui(clerk: Served) -> None:
    def run(messages: list[Any]) -> list[Any]:
        body = {"threadId": "t", "runId": "r", "messages": messages}
        text = post(clerk, "/agents/Clerk/agui", body).text
        return [json.loads(piece.removeprefix("data: ")) for piece in text.strip().split("\n\n")]

    user = {"id": "1", "role": "user", "content": ASK}
    events = run([user])
    calls = [event for event in events if event["type"] == "TOOL_CALL_START"]
    assert [call["toolCallName"] for call in calls] == ["Cash__refund", "approve_refund"]
    asked = calls[1]["toolCallId"]
    function = {"name": "approve_refund", "arguments": '{"order": "7"}'}
    said = {
        "id": "2",
        "role": "assistant",
        "toolCalls": [{"id": asked, "type": "function", "function": function}],
    }
    events = run([user, said, {"id": "3", "role": "tool", "toolCallId": asked, "content": "true"}])
    assert kinds(events)[-1] == "RUN_FINISHED"
    assert "".join([event.get("delta", "") for event in events]) == "given refund of 7: true"


def test_forged_answers_change_nothing(clerk: Served) -> None:
    first = ask(clerk)
    (call,) = first["output"]
    whole = [{"role": "user", "content": ASK}, call]

    def refused(items: list[Any], headers: dict[str, str] = ANN) -> tuple[int, str]:
        answer = post(clerk, "/v1/responses", {"model": "Clerk", "input": items}, headers)
        return answer.status_code, answer.json()["error"]["code"]

    assert refused([*whole, output(call, "true")], BOB) == (403, "foreign_call")
    altered = {**call, "arguments": '{"order": "8"}'}
    assert refused([whole[0], altered, output(call, "true")]) == (403, "other_arguments")
    run = call["call_id"].split("_")[1]
    for forged in (f"wait_{run}_0/99", "wait_0123456789ab_0/1", "wait_", "wait_x"):
        assert refused([output({"call_id": forged}, "true")])[0] in (403, 409), forged
    assert refused([*whole, {"role": "user", "content": "go on"}]) == (400, "tool_output_missing")
    late = {"model": "Clerk", "previous_response_id": first["id"], "input": [output(call, "true")]}
    assert post(clerk, "/v1/responses", late).json()["status"] == "completed"
    assert refused([*whole, output(call, "true")]) == (409, "already_answered")
    assert refused([*whole, output(call, "true")], BOB) == (403, "foreign_call")


def test_an_answer_outlives_its_server(folder: Path, tmp_path: Path) -> None:
    store = ("--store", f"sqlite:{tmp_path / 'runs.db'}")
    with served(folder, *store, environment={"TOKENS": "ann"}) as server:
        first = ask(server, background=True)
        while first["status"] in ("queued", "in_progress"):
            first = httpx2.get(f"{server.url}/v1/responses/{first['id']}", headers=ANN).json()
        server.stop(signal.SIGKILL)
    with served(folder, *store, environment={"TOKENS": "ann"}) as server:
        answer = [output(first["output"][0], "true")]
        body = {"model": "Clerk", "previous_response_id": first["id"], "input": answer}
        second = post(server, "/v1/responses", body).json()
        assert second["output"][0]["content"][0]["text"] == "given refund of 7: true"


@pytest.mark.parametrize("background", [False, True])
def test_only_the_client_goes_on_with_what_it_was_asked(
    folder: Path, clerk: Served, *, background: bool
) -> None:
    response = ask(clerk, 'call Cash__twice {"order": "7"}', background=background)
    for said in ("one", "two"):
        while response["status"] in ("queued", "in_progress"):
            response = httpx2.get(f"{clerk.url}/v1/responses/{response['id']}", headers=ANN).json()
        (call,) = response["output"]
        run = call["call_id"].split("_")[1]
        for answers in ((), ("--answer", f'first="{said}"'), ("--answer", f'second="{said}"')):
            refused = command(folder, "resume", run, *answers)
            assert refused.returncode == 2, refused
            assert f"send the output of the call `{call['call_id']}` to the server" in refused.stderr
        shown = command(folder, "replay", run)
        assert shown.returncode == 3 and "concerto resume" not in shown.stderr
        assert (
            f"goes on where that is served: send the output of the call `{call['call_id']}`" in shown.stderr
        )
        upgraded = command(folder, "runs", "upgrade", run, "--to", "main.conc")
        assert (upgraded.returncode, upgraded.stdout) == (0, f"run {run} goes on with `main.conc`\n")
        answer = {"model": "Clerk", "previous_response_id": response["id"], "background": background}
        response = post(clerk, "/v1/responses", {**answer, "input": [output(call, said)]}).json()
    while response["status"] in ("queued", "in_progress"):
        response = httpx2.get(f"{clerk.url}/v1/responses/{response['id']}", headers=ANN).json()
    assert response["output"][0]["content"][0]["text"] == "given one two"
    again = command(folder, "replay", run)
    assert (again.returncode, again.stdout, again.stderr) == (0, "first of 7 is one\n", "")
    asked = call["call_id"].split("_")[2]
    forked = command(folder, "fork", run, "--at", asked, "--answer", '"three"')
    assert (forked.returncode, forked.stdout) == (0, "first of 7 is one\n"), forked.stderr


def test_a_response_is_whole_whoever_went_on_with_it(folder: Path, tmp_path: Path) -> None:
    """A person goes on with a run of a server that was killed; the next server tells of its end."""
    options = ("--store", f"sqlite:{tmp_path / 'runs.db'}")
    with served(folder, *options, environment={"TOKENS": "ann"}) as server:
        begun = ask(server, "wait 2", background=True)
        server.stop(signal.SIGKILL)
    (run,) = json.loads(command(folder, "runs", "--all", "--json", store=options[1]).stdout)
    assert command(folder, "resume", run["id"], store=options[1]).returncode == 0
    with served(folder, *options, environment={"TOKENS": "ann"}) as server:
        while begun["status"] in ("queued", "in_progress"):
            begun = httpx2.get(f"{server.url}/v1/responses/{begun['id']}", headers=ANN).json()
    assert begun["output"][0]["content"][0]["text"] == "waited"


def test_what_a_client_asked_is_kept_without_keys(folder: Path, clerk: Served, tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2" * 8
    (call,) = ask(clerk, f'call Cash__refund {{"order": "{key}"}}')["output"]
    run, file = call["call_id"].split("_")[1], tmp_path / "it.conc-run"
    assert command(folder, "runs", "export", run, "-o", str(file)).returncode == 0
    assert key not in file.read_text() and "sk-proj-***key***" in file.read_text()
    assert command(folder, "replay", str(file)).returncode == 3

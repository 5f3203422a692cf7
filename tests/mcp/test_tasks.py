"""Long calls of a served program as tasks, asked for by the official client. Servers are killed and started
again on the same store."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY, ElicitResult, InputRequiredResult

from concerto import Runtime, compile_source, open_store
from tests.mcp.task_client import ask, begin, ended, knowing_tasks, until
from tests.mcp.test_serving import over_http
from tests.serving.servers import command

PROGRAM = """
struct Name { name: String }

tool Jobs {
    description: "Jobs",

    @mcp_task @describe("Adds up what is written down")
    pub fn add_up(call: ToolContext) -> Result<Int, String> {
        fs::append_file("begun", "once\\n")?;
        call.progress(1, total: 2, message: "half of it");
        while !fs::exists("more") { time::sleep(20); }
        Ok(fs::read_file("more")?.parse_int()?)
    }

    @mcp_task @describe("Greets")
    pub fn greet() -> Result<String, EmitError> {
        let one: Name = await emit("who", "Who is it?")?;
        let other: Name = await emit("who", "And who else?")?;
        Ok("${one.name} and ${other.name}")
    }

    @mcp_task @describe("Waits") @param("n", "What it gives")
    pub fn wait(n: Int) -> Int { time::sleep(50); n }

    @mcp_task(support: "required") @describe("Sleeps")
    pub fn sleep() -> Int { time::sleep(600000); 1 }
}
use std::fs;
use std::time;

fn main() {}
"""
CLIENT = """
mcp Jobs {
    transport: "http", url: "URL",
    @describe("Adds up") fn add_up() -> Result<Int, ToolError>;
    @describe("Greets") fn greet() -> Result<String, ToolError>;
    @describe("Waits") @param("n", "What it gives") fn wait(n: Int) -> Result<Int, ToolError>;
    @describe("Sleeps") fn sleep() -> Result<Int, ToolError>;
}
use std::fs;
use std::time;

async fn begun() -> Result<Int, ToolError> {
    while !fs::exists("begun") { time::sleep(20); }
    Ok(0)
}

fn main() -> Result<Array<Any>, ToolError> {
    let first = race (Jobs.add_up(), begun())?;
    Ok([first, Jobs.wait(3)?, Jobs.greet()?])
}
"""
Talk = Callable[[Client], Awaitable[None]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCERTO_STORE", f"sqlite:{tmp_path / 'runs.db'}")
    path = tmp_path / "jobs.conc"
    path.write_text(PROGRAM)
    (tmp_path / "Concerto.toml").write_text('[project]\nname = "jobs"\nentry = "jobs.conc"\n')
    return path


async def nobody(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="cancel")


def talk(file: Path, body: Talk) -> None:
    """Talk with a server, which is killed at the end."""

    async def session(url: str) -> None:
        async with knowing_tasks(url, elicitation_callback=nobody) as client:
            await body(client)

    with over_http(file) as (url, process), contextlib.ExitStack() as stack:
        stack.callback(process.kill)
        asyncio.run(session(url))


def test_a_task_outlives_its_server(file: Path) -> None:
    folder, tasks = file.parent, []

    async def start(client: Client) -> None:
        tasks.append(await begin(client, "add_up"))
        while (found := await ask(client, "tasks/get", taskId=tasks[0])).get("statusMessage") != "half of it":
            assert found["status"] == "working", found["result"]
            await asyncio.sleep(0.1)

    async def go_on(client: Client) -> None:
        found = await ask(client, "tasks/get", taskId=tasks[0])
        assert found["status"] == "working"
        (folder / "more").write_text("42")
        found = await ended(client, tasks[0])
        assert found["result"]["structuredContent"] == {"result": 42}

    async def look(client: Client) -> None:
        found = await ask(client, "tasks/get", taskId=tasks[0])
        assert (found["status"], found["result"]["content"]) == (
            "completed",
            [{"type": "text", "text": "42"}],
        )

    talk(file, start)
    talk(file, go_on)
    talk(file, look)
    assert (folder / "begun").read_text() == "once\n"


def test_another_server_answers_while_the_first_one_works(file: Path) -> None:
    async def both(client: Client) -> None:
        task = await begin(client, "add_up")
        with over_http(file) as (url, _):
            async with knowing_tasks(url) as other:
                assert (await ask(other, "tasks/get", taskId=task))["status"] == "working"
                (file.parent / "more").write_text("7")
                here, there = await ended(client, task), await ended(other, task)
                assert here["result"]["structuredContent"] == there["result"]["structuredContent"]

    talk(file, both)
    assert (file.parent / "begun").read_text() == "once\n"


def test_questions_are_asked_again_after_a_restart(file: Path) -> None:
    tasks: list[str] = []
    keys: list[str] = []

    def answer(name: str) -> dict[str, Any]:
        return {keys[-1]: {"action": "accept", "content": {"name": name}}}

    async def start(client: Client) -> None:
        tasks.append(await begin(client, "greet"))
        keys.extend((await until(client, tasks[0], "input_required"))["inputRequests"])
        await ask(client, "tasks/update", taskId=tasks[0], inputResponses=answer("Ada"))
        while keys[-1] in (found := await until(client, tasks[0], "input_required"))["inputRequests"]:
            await asyncio.sleep(0.1)
        keys.extend(found["inputRequests"])

    async def go_on(client: Client) -> None:
        found = await until(client, tasks[0], "input_required")
        assert list(found["inputRequests"]) == keys[-1:] != keys[:1]
        assert found["inputRequests"][keys[-1]]["params"]["message"] == "And who else?"
        await ask(client, "tasks/update", taskId=tasks[0], inputResponses={keys[0]: {"action": "cancel"}})
        await ask(client, "tasks/update", taskId=tasks[0], inputResponses=answer("Alan"))
        found = await ended(client, tasks[0])
        assert found["result"]["content"][0]["text"] == "Ada and Alan"

    talk(file, start)
    (run,) = open_store(f"sqlite:{file.parent / 'runs.db'}").runs()
    refused = command(file.parent, "resume", run.id, "--answer", 'who={"name": "Eve"}')
    assert refused.returncode == 2
    assert "is an MCP client's call of `greet`, and goes on where that is served" in refused.stderr
    talk(file, go_on)
    for shown in (("replay", run.id), ("fork", run.id, "--at", "0.1/2", "--answer", '{"name": "Eve"}')):
        assert command(file.parent, *shown).returncode == 0, shown


def test_two_hundred_tasks_at_once(file: Path) -> None:
    async def many(client: Client) -> None:
        tasks = await asyncio.gather(*[begin(client, "wait", n=n) for n in range(200)])
        assert len(set(tasks)) == 200
        found = await asyncio.gather(*[ended(client, task) for task in tasks])
        assert [each["result"]["structuredContent"]["result"] for each in found] == list(range(200))

    talk(file, many)


def test_what_is_cancelled_unknown_or_too_old(file: Path) -> None:
    async def refused(client: Client, method: str, task: str) -> None:
        more: dict[str, Any] = {"inputResponses": {}} if method == "tasks/update" else {}
        with pytest.raises(MCPError, match="there is no task") as refusal:
            await ask(client, method, taskId=task, **more)
        assert refusal.value.code == INVALID_PARAMS

    async def body(client: Client) -> None:
        task = await begin(client, "sleep")
        for _ in range(2):
            assert (await ask(client, "tasks/cancel", taskId=task))["resultType"] == "complete"
            assert (await ask(client, "tasks/get", taskId=task))["status"] == "cancelled"
        old = await begin(client, "sleep")
        with contextlib.closing(sqlite3.connect(file.parent / "runs.db")) as store, store:
            store.execute("UPDATE mcp_calls SET expires = 1 WHERE run = ?", (old,))
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            await refused(client, method, "0123456789ab")
            await refused(client, method, old)

    talk(file, body)


def test_clients_without_tasks(file: Path) -> None:
    """They wait for the result, unless the tool is nothing but a task."""

    async def session(url: str) -> None:
        async with Client(url, mode="auto") as client:
            assert (await client.call_tool("wait", {"n": 3})).structured_content == {"result": 3}
            with pytest.raises(MCPError) as refusal:
                await client.call_tool("sleep", {})
            assert refusal.value.code == MISSING_REQUIRED_CLIENT_CAPABILITY

    with over_http(file) as (url, _):
        asyncio.run(session(url))


def test_a_program_awaits_the_tasks_of_a_server(file: Path) -> None:
    """It answers what they ask, and cancels the one that it does not wait for any more."""
    questions: list[str] = []

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        questions.append(asked["message"])
        return {"name": f"number {len(questions)}"}

    with over_http(file) as (url, _):
        options: dict[str, Any] = {"folder": file.parent, "handlers": {"mcp:elicit": answer}}
        result = Runtime(compile_source(CLIENT.replace("URL", url)), **options).run()
        assert result.value == [0, 3, "number 1 and number 2"], result
    assert questions == ["Who is it?", "And who else?"]
    with contextlib.closing(open_store(f"sqlite:{file.parent / 'runs.db'}")) as store:
        assert [each.status for each in store.runs()] == ["done", "done", "cancelled"]


def test_a_call_that_asks_in_rounds_waits_in_the_store(file: Path) -> None:
    """For a client without tasks, which comes back to another server with the state and the answer."""
    state = ""

    async def turn(url: str, answer: str) -> Any:
        async with Client(url, mode="auto", elicitation_callback=nobody) as client:
            given: dict[str, Any] = {"who": ElicitResult(action="accept", content={"name": answer})}
            return await client.session.call_tool(
                "greet",
                {},
                input_responses=given if state else None,
                request_state=state or None,
                allow_input_required=True,
            )

    for answer, question in (("", "Who is it?"), ("Ada", "And who else?")):
        with over_http(file) as (url, _):
            asked = asyncio.run(turn(url, answer))
        assert isinstance(asked, InputRequiredResult) and asked.request_state
        assert asked.input_requests is not None
        requests: list[Any] = list(asked.input_requests.values())
        assert [each.params.message for each in requests] == [question]
        state = asked.request_state
    with over_http(file) as (url, _):
        assert asyncio.run(turn(url, "Alan")).content[0].text == "Ada and Alan"
        with pytest.raises(BaseExceptionGroup):
            asyncio.run(turn(url, "Alan"))

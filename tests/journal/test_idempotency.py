"""Idempotency keys reach everybody outside, the same for all attempts; what may be repeated is repeated."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import concerto
from concerto import RunStore, Runtime, compile_file, compile_source, open_store
from concerto.effects.identity import idempotency_key
from tests.journal.killing import world
from tests.runtime.servers import Script, chat_reply

MCP_SERVER = """
import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def list_tools(context, params):
    hints = {"look": types.ToolAnnotations(read_only_hint=True)}
    return types.ListToolsResult(tools=[
        types.Tool(name=name, description=name, input_schema={"type": "object"}, annotations=hints.get(name))
        for name in ("look", "pay")
    ])

async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(text=params.meta["idempotency_key"])])

async def main():
    server = Server("keys", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""
HOST = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"type": "result", "text": json.loads(line)["idempotency_key"]}), flush=True)
"""
SOURCE = """
use std::tools::HttpTool;
tool Desk {
    description: "People",
    @describe("Ask") pub fn ask() -> Result<String, ToolError>;
    @describe("Look") @read_only pub fn look() -> Result<String, ToolError>;
}
mcp Keys {
    transport: "stdio", command: COMMAND,
    @describe("Look") fn look() -> Result<String, ToolError>;
    @describe("Pay") fn pay() -> Result<String, ToolError>;
}
@idempotent
host Worker { connector: worker }
fn main() -> Result<Array<String>, Any> {
    HttpTool.post("URL/keys", {"n": 1})?;
    HttpTool.get("URL/read/1")?;
    Ok([Desk::ask()?, Desk::look()?, Keys::look()?, Keys::pay()?, Worker.execute("x")?.text])
}
"""


@pytest.fixture
def store(url: str) -> Iterator[RunStore]:
    opened = open_store(url)
    yield opened
    opened.close()


def test_everybody_outside_is_given_the_key(tmp_path: Path, store: RunStore) -> None:
    (tmp_path / "server.py").write_text(MCP_SERVER)
    (tmp_path / "host.py").write_text(HOST)
    command = json.dumps(f"{sys.executable} {tmp_path / 'server.py'}")
    (tmp_path / "Concerto.toml").write_text(
        f'[hosts.worker]\ncommand = "{sys.executable}"\nargs = ["{tmp_path / "host.py"}"]\n'
        '[permissions]\nhttp = ["127.0.0.1"]\n'
    )
    with world() as made:
        (tmp_path / "main.conc").write_text(SOURCE.replace("URL", made.url).replace("COMMAND", command))
        told = {name: lambda given: concerto.idempotency_key() for name in ("tool:Desk::ask", "Desk::look")}
        errors = io.StringIO()
        runtime = Runtime(
            compile_file(tmp_path / "main.conc"), store=store, handlers=told, errors=errors, output=errors
        )
        result = runtime.run()
        assert result.ok, errors.getvalue()
        effects = [row for row in store.effects(result.run_id) if row.policy != "inside"]
        keys = [idempotency_key(result.run_id, row.key) for row in effects]
        assert result.value == keys[2:]
        assert len(set(keys)) == 7
        assert made.keys == {"/keys": keys[0], "/read/1": None}
    assert [row.policy for row in effects] == ["once", "repeat", "once", "repeat", "repeat", "once", "repeat"]


def test_who_executes_a_call_outside_is_told_its_key(store: RunStore) -> None:
    source = """
    tool Desk { description: "People", @describe("Ask") pub fn ask() -> Result<String, ToolError>; }
    fn main() -> Result<String, ToolError> { Desk::ask() }
    """
    runtime = Runtime(compile_source(source), store=store, errors=io.StringIO(), output=io.StringIO())
    result = runtime.run()
    assert result.status == 3
    for [told] in (store.get(result.run_id).waits_for, runtime.pending):
        assert told["idempotency_key"] == idempotency_key(result.run_id, "0/1")


def test_a_python_tool_knows_its_key_and_says_that_it_may_be_repeated(store: RunStore) -> None:
    seen: list[str] = []

    @concerto.tool(read_only=True)
    def look() -> str:
        "Look"
        seen.append(concerto.idempotency_key())
        return "seen"

    class Bank:
        @concerto.tool(idempotent=True)
        def hold(self) -> str:
            "Hold"
            seen.append(concerto.idempotency_key())
            return "held"

        def pay(self) -> str:
            "Pay"
            seen.append(concerto.idempotency_key())
            return "paid"

    source = """
    connect here { provider: "custom", base_url: "URL", default_model: "m" }
    agent Clerk { provider: here, tools: [look, Bank] }
    fn main() -> Result<String, AgentError> { Ok(Clerk.execute("go")?.text) }
    """
    with Script() as script:
        names = ("look", "Bank__hold", "Bank__pay")
        calls = [(f"id{n}", name, "{}") for n, name in enumerate(names)]
        script.answer(chat_reply(None, *calls), chat_reply("done"))
        tools: dict[str, Any] = {"look": look, "Bank": Bank}
        program = compile_source(source.replace("URL", script.url), tools=tools)
        result = Runtime(program, store=store).run()
    assert result.value == "done", result
    rows = [row for row in store.effects(result.run_id) if row.kind == "ToolCall"]
    assert sorted((row.subject, row.policy) for row in rows) == [
        ("Bank::hold", "repeat"), ("Bank::pay", "once"), ("look", "repeat")
    ]  # fmt: skip
    assert sorted(seen) == sorted(idempotency_key(result.run_id, row.key) for row in rows)


def test_outside_of_a_call_there_is_no_key() -> None:
    with pytest.raises(RuntimeError, match="only a tool or handler"):
        concerto.idempotency_key()

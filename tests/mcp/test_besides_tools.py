"""Resources and prompts of a server as values of a program."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated
from mcp.types import ResourceUpdatedNotification

from tests.mcp import peers
from tests.mcp.peers import scripted
from tests.mcp.test_serving import over_http
from tests.runtime.running import Outcome

Run = Callable[..., Outcome]

SERVER = """
@mcp_resource("notes://today", media_type: "text/markdown")
@describe("Today's")
pub fn today() -> Part { Part::file("notes://today", data: "AAEC", media_type: "image/png") }

@mcp_resource("notes://{day}")
@describe("One day's")
@param("day", "Which")
pub fn of_day(day: String) -> String { "of ${day} \\u{1F600}" }

@mcp_prompt
@describe("A summary")
@param("length", "How long")
pub fn summary(length: String) -> Array<Message> {
    [Message { role: "assistant", content: "What?" }, Message { role: "user", content: "Sum, ${length}" }]
}

tool Notebook {
    description: "Notes",
    @describe("Says that a day has other notes") @param("day", "Which")
    pub fn touch(day: String) { emit("mcp:resource_updated", "notes://${day}"); }
}

fn main() { }
"""


def served(tmp_path: Path, body: str) -> str:
    (tmp_path / "notes.conc").write_text(SERVER)
    command = json.dumps(f"{sys.executable} -m concerto.cli mcp serve {tmp_path / 'notes.conc'}")
    return f"""
mcp Notes {{ transport: "stdio", command: {command} }}
fn read(server: McpRef, uri: String) -> Result<Array<Part>, ToolError> {{ server.resource(uri) }}
fn main() {{
{body}
}}
"""


def test_what_a_server_has_besides_tools(run: Run, tmp_path: Path) -> None:
    body = """
    println(Notes.resources().unwrap());
    let picture = Notes.resource("notes://today").unwrap()[0];
    println("${picture.kind} ${picture.uri} ${picture.media_type} ${picture.data}");
    println(read(Notes, "notes://monday").unwrap()[0].text);
    println(Notes.prompts().unwrap());
    let messages = Notes.prompt("summary", {"length": "short"}).unwrap();
    println(messages.map(|each| "${each.role}: ${each.content}"));
    """
    assert run(served(tmp_path, body)).lines == [
        '["notes://today", "notes://{day}"]',
        "file notes://today image/png AAEC",
        "of monday \U0001f600",
        '["summary"]',
        '["assistant: What?", "user: Sum, short"]',
    ]


def test_what_cannot_be_had(run: Run, tmp_path: Path) -> None:
    body = """
    for asked in [Notes.resource("x://y"), Notes.resource("")] {
        println("${asked.err().unwrap().kind}: ${asked.err().unwrap().message}");
    }
    println(Notes.prompt("summary").err().unwrap().message);
    println(Notes.prompt("none", {}).err().unwrap().message);
    """
    assert run(served(tmp_path, body)).lines == [
        "ServerFailed: mcp server `Notes` refused `resources/read`: there is no resource `x://y`",
        "ServerFailed: mcp server `Notes` refused `resources/read`: there is no resource ``",
        "mcp server `Notes` refused `prompts/get`: `summary` needs the argument `length`",
        "mcp server `Notes` refused `prompts/get`: there is no prompt `none`",
    ]


def test_permissions_hold(run: Run, tmp_path: Path) -> None:
    body = """
    println(Notes.resources().unwrap().len());
    println(Notes.resource("notes://today").err().unwrap().kind);
    """
    source = served(tmp_path, body)
    refused = run(source, permissions={"Notes": {"resources/read": False}})
    assert refused.lines == ["2", "PermissionDenied"]


def test_a_server_without_any(run: Run, mark: str) -> None:
    source = f"""
mcp Odd {{ transport: "stdio", command: {json.dumps(scripted("well", mark))} }}
fn main() {{
    println("${{Odd.resources().unwrap()}} ${{Odd.prompts().unwrap()}}");
    println(Odd.resource("x://y").err().unwrap().kind);
}}
"""
    assert run(source).lines == ["[] []", "ServerFailed"]


def test_a_declared_function_of_such_a_name_comes_before(run: Run, mark: str) -> None:
    source = f"""
mcp Odd {{
    transport: "stdio", command: {json.dumps(scripted("well", mark))},
    @describe("Its own") fn resource() -> Result<String, ToolError>;
}}
fn main() {{ println(Odd.resource().err().unwrap().message); }}
"""
    assert "no tool `resource`" in run(source).lines[0]


def test_of_the_server_everything(run: Run) -> None:
    source = f"""
mcp Everything {{ transport: "stdio", command: "{peers.node_program("mcp-server-everything")} stdio" }}
fn main() {{
    let addresses = Everything.resources().unwrap();
    println(addresses.len() > 2);
    println(Everything.resource(addresses[0]).unwrap()[0].text.len() > 0);
    println(Everything.prompts().unwrap().contains("simple-prompt"));
    println(Everything.prompt("simple-prompt").unwrap()[0].role);
}}
"""
    assert run(source).lines == ["true", "true", "true", "user"]


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_clients_are_told_when_a_resource_has_changed(tmp_path: Path) -> None:
    """Those of the newer revision listen, those of the older one subscribe."""
    (tmp_path / "notes.conc").write_text(SERVER)

    async def listening(url: str) -> None:
        async with Client(url) as client, client.listen(resource_subscriptions=["notes://1"]) as changes:
            await client.call_tool("touch", {"day": "2"})
            await client.call_tool("touch", {"day": "1"})
            assert await anext(aiter(changes)) == ResourceUpdated(uri="notes://1")

    async def subscribing(url: str) -> None:
        told: asyncio.Queue[str] = asyncio.Queue()

        async def hear(message: Any) -> None:
            if isinstance(message, ResourceUpdatedNotification):
                told.put_nowait(str(message.params.uri))

        async with Client(url, mode="legacy", message_handler=hear) as client:
            await client.subscribe_resource("notes://1")
            await client.subscribe_resource("notes://2")
            await client.unsubscribe_resource("notes://2")
            while told.empty():  # What is said before its stream is open is lost.
                await client.call_tool("touch", {"day": "2"})
                await client.call_tool("touch", {"day": "1"})
                await asyncio.sleep(0.1)
            assert await told.get() == "notes://1"

    with over_http(tmp_path / "notes.conc") as (url, _):
        asyncio.run(asyncio.wait_for(listening(url), 120))
        asyncio.run(asyncio.wait_for(subscribing(url), 120))

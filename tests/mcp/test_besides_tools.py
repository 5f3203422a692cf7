"""Resources and prompts of a server as values of a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from tests.mcp import peers
from tests.mcp.peers import scripted
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

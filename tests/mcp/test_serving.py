"""`concerto mcp serve`, asked by the official clients and by programs of ours."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from concerto.json_data import Json
from tests.harness.interrupts import without_resuming
from tests.mcp import peers
from tests.runtime.running import Outcome

PROGRAM = """
struct Total { sum: Int, parts: Array<Int> }

tool Sums {
    description: "Sums",
    calls: Int = 0,

    @describe("Adds numbers") @param("parts", "What to add")
    pub fn add(mut self, parts: Array<Int>) -> Result<Total, ToolError> {
        self.calls += 1;
        println("never on the wire");
        if parts.len() == 0 { return Err(ToolError::new("nothing to add")); }
        Ok(Total { sum: parts.sum(), parts: parts })
    }
    @describe("How often") pub fn count(self) -> Int { self.calls }
    @describe("Done outside") pub fn outside() -> Result<String, ToolError>;
    @describe("Never ends") pub fn hang() -> Int { while true { } 1 }
    fn secret() -> Int { 1 }
}
agent Helper { provider: mock, model: "m", tools: [Sums] }
"""
SERVE = [sys.executable, "-m", "concerto.cli", "mcp", "serve"]
OFFERED = ["add", "count", "outside", "hang", "Helper"]
Era = Literal["legacy", "auto"]
Talk = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("serving") / "sums.conc"
    path.write_text(PROGRAM)
    return path


@contextmanager
def over_http(file: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen([*SERVE, "--http", "0", str(file)], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found[0], process
    finally:
        process.kill()
        process.communicate(timeout=120)


@pytest.fixture(scope="module")
def url(file: Path) -> Iterator[str]:
    """The program, served for all tests that leave no trace in it."""
    with over_http(file) as (url, _):
        yield url


def talk(server: Any, body: Talk, era: Era = "legacy") -> None:
    async def session() -> None:
        async with Client(server, mode=era) as client:
            await body(client)

    asyncio.run(asyncio.wait_for(session(), 120))


def stdio(file: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *options, str(file)])


def text_of(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_tools_and_agents_are_offered_and_called(url: str, era: Era) -> None:
    async def body(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == OFFERED
        assert tools["add"].description == "Adds numbers"
        assert tools["add"].input_schema["properties"]["parts"] == {
            "type": "array", "items": {"type": "integer"}, "description": "What to add"
        }  # fmt: skip
        added = await client.call_tool("add", {"parts": [1, 2]})
        assert added.structured_content == {"sum": 3, "parts": [1, 2]}
        assert json.loads(text_of(added)) == {"sum": 3, "parts": [1, 2]}
        asked = await client.call_tool("Helper", {"prompt": "hello"})
        assert text_of(asked) == "[mock response to: hello]"

    talk(url, body, era)


def test_failures_are_results(url: str) -> None:
    async def body(client: Client) -> None:
        for name, arguments, message in (
            ("add", {"parts": []}, "nothing to add"),
            ("add", {"parts": ["x"]}, "invalid arguments: `parts[0]`: expected an integer"),
            ("add", {}, "invalid arguments: `parts`: required, but missing"),
            ("secret", {}, "there is no tool `secret`"),
            ("outside", {}, "`Sums::outside` is executed outside"),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error and text_of(result).startswith(message)

    talk(url, body)


def test_a_panic_ends_the_call_and_not_the_server(tmp_path: Path) -> None:
    file = tmp_path / "main.conc"
    file.write_text("""
        tool Desk {
            description: "A desk",
            @describe("Panics") pub fn fall(@param("Why") why: String) -> Int { panic(why) }
            @describe("Works") pub fn stand() -> Int { 1 }
        }
        @mcp_prompt
        @describe("Says what falls")
        pub fn falling() -> String { panic("a prompt") }
    """)

    async def body(client: Client) -> None:
        fallen = await client.call_tool("fall", {"why": "no floor"})
        assert fallen.is_error and text_of(fallen) == "panic: no floor"
        with pytest.raises(MCPError, match="panic: a prompt"):
            await client.get_prompt("falling")
        assert text_of(await client.call_tool("stand", {})) == "1"

    with over_http(file) as (url, process):
        talk(url, body)
        process.terminate()
        assert process.stderr is not None
        said = process.stderr.read()
    assert (
        "error: panic: no floor\n" in said and "main.conc:4:" in said and "error: panic: a prompt\n" in said
    )


def test_over_stdio_with_permissions(file: Path) -> None:
    async def body(client: Client) -> None:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "count", "outside", "hang"
        ]  # fmt: skip
        assert (await client.call_tool("add", {"parts": [1]})).is_error
        assert text_of(await client.call_tool("count", {})) == "0"

    talk(stdio(file, "--deny-tool", "Sums::add", "--deny-tool", "Helper"), body, "auto")


def test_clients_share_one_program_until_it_is_interrupted(file: Path) -> None:
    async def body(url: str) -> None:
        async with Client(url) as one, Client(url, mode="legacy") as other:
            await one.call_tool("add", {"parts": [1]})
            assert text_of(await other.call_tool("count", {})) == "1"

    with over_http(file) as (url, process):
        asyncio.run(asyncio.wait_for(body(url), 120))
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


@pytest.mark.parametrize("busy", [False, True])
def test_stdio_until_interrupted(file: Path, busy: bool) -> None:
    """While its client says nothing and holds the pipe, and a call that computes keeps nobody waiting."""
    process = subprocess.Popen(
        [*SERVE, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    asked: list[Json] = [{"id": 1, "method": "initialize", "params": info}]
    if busy:
        asked.append({"id": 2, "method": "tools/call", "params": {"name": "hang"}})
    for request in [*asked, {"id": 3, "method": "ping"}]:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
    process.stdin.flush()
    assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 3]
    process.send_signal(signal.SIGTERM)
    assert process.wait(120) == 130
    _, errors = process.communicate(timeout=120)
    assert without_resuming(errors) == "error: interrupted\n"


def test_a_call_that_computes_is_cancelled_and_no_other_comes_between(tmp_path: Path) -> None:
    """Other requests are answered meanwhile; other calls are made when it has ended, as they always were."""
    (tmp_path / "counting.conc").write_text("""
        tool Counts {
            description: "Counts",
            n: Int = 0,
            @describe("Never ends") pub fn hang() -> Int { while true { } 1 }
            @describe("Slowly") pub fn add(mut self) -> Int {
                let before = self.n;
                let mut sum = 0;
                for i in 0..1000000 { sum += i; }
                self.n = before + 1;
                self.n
            }
        }
    """)

    async def body(client: Client) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.call_tool("hang", {}), 1)
        adding = [asyncio.create_task(client.call_tool("add", {})) for _ in range(3)]
        await asyncio.sleep(0)
        await client.session.send_ping()
        assert not any(each.done() for each in adding)
        assert sorted([text_of(await each) for each in adding]) == ["1", "2", "3"]

    talk(stdio(tmp_path / "counting.conc"), body)


def test_what_cannot_be_read_is_refused(file: Path) -> None:
    """Whoever sent it would wait for an answer without end."""
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
    call = (
        '{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "x", "arguments": {"n": %s}}}'
    )
    lines = [
        json.dumps(initialize),
        "no message",
        '{"jsonrpc": "2.0", "id": 3}',
        call % ("1" * 5000),
        call.replace("4", "5", 1) % f'"{"x" * 20_000_000}"',
        '{"jsonrpc": "2.0", "id": 6, "method": "ping"}',
    ]
    ended = subprocess.run(
        [*SERVE, str(file)], input="\n".join(lines), capture_output=True, text=True, timeout=120, check=False
    )
    said = [json.loads(line) for line in ended.stdout.splitlines()]
    codes = {each["id"]: each.get("error", {}).get("code") for each in said}
    assert codes == {1: None, None: -32700, 3: -32600, 4: -32700, 5: -32700, 6: None}
    assert (len(said), ended.returncode, ended.stderr) == (6, 0, "")


def test_the_end_of_the_input_is_the_end(file: Path) -> None:
    ended = subprocess.run(
        [*SERVE, str(file)], input="", capture_output=True, text=True, timeout=120, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_program_uses_another_one_as_its_server(url: str, run: Callable[..., Outcome]) -> None:
    source = f"""
struct Total {{ sum: Int }}
mcp Sums {{
    url: "{url}",
    @describe("Adds") @param("parts", "What") fn add(parts: Array<Int>) -> Result<Total, ToolError>;
    @describe("Asks") @param("prompt", "What") fn Helper(prompt: String) -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    println(Sums.add([1, 2, 3])?.sum);
    println(Sums.Helper("hello")?);
    Ok(nil)
}}
"""
    assert run(source).lines == ["6", "[mock response to: hello]"]


def inspect(*arguments: str) -> Any:
    """What the official inspector prints."""
    command = [peers.node_program("mcp-inspector"), "--cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_over_stdio(file: Path) -> None:
    said = inspect(
        *SERVE, str(file), "--method", "tools/call", "--tool-name", "add", "--tool-arg", "parts=[4,5]"
    )
    assert said["structuredContent"] == {"sum": 9, "parts": [4, 5]} and not said["isError"]


def test_the_inspector_over_http(url: str) -> None:
    said = inspect(url, "--transport", "http", "--method", "tools/list")
    assert [tool["name"] for tool in said["tools"]] == OFFERED


CLIENT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: "add", arguments: { parts: [4, 5] } });
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), result }));
await client.close();
"""


def test_the_client_of_the_typescript_library(file: Path) -> None:
    sdk = peers.node_folder() / "@modelcontextprotocol" / "sdk"
    if not sdk.exists() or shutil.which("node") is None:
        pytest.skip(f"the TypeScript client is not installed at {sdk}")
    script = peers.node_folder().parent / "concerto_client.mjs"
    script.write_text(CLIENT)  # Beside the packages that it imports.
    said = subprocess.run(
        ["node", str(script), *SERVE, str(file)], capture_output=True, text=True, timeout=240, check=True
    )
    answer = json.loads(said.stdout)
    assert answer["tools"][0] == "add"
    assert answer["result"]["structuredContent"] == {"sum": 9, "parts": [4, 5]}


TYPED = """
struct Node { name: String, children: Array<Node> }
struct Only { result: Int }
enum Level { Low, High }
struct Event { variant: String, data: Level }
enum Shape { Nothing, Circle(Float), Box { wide: Int, of: Level }, Both(Int, Level) }
tool T {
    description: "t",
    @describe("a") @param("of", "n") @param("all", "n")
    pub fn levels(of: Level, all: Map<String, Level>) -> Array<Level> { [of, all["a"]] }
    @describe("a") @param("n", "n") pub fn shape(n: Int) -> Shape {
        let box = Shape::Box { wide: 2, of: Level::High };
        [Shape::Nothing, Shape::Circle(1.5), box, Shape::Both(3, Level::Low)][n]
    }
    @describe("a") pub fn event() -> Event { Event { variant: "x", data: Level::High } }
    @describe("a") @param("n", "n") pub fn outcome(n: Int) -> Array<Result<Level, Shape>> {
        [Ok(Level::Low), Err(Shape::Circle(1.0))]
    }
    @describe("a") pub fn tuple() -> (Int, Option<Level>) { (1, Some(Level::High)) }
    @describe("a") @param("node", "n") pub fn same(node: Node) -> Int { node.children.len() }
    @describe("a") pub fn int() -> Int { 3 }
    @describe("a") pub fn float() -> Result<Float, ToolError> { Ok(2.5) }
    @describe("a") pub fn text() -> String { "7" }
    @describe("a") pub fn flag() -> Bool { true }
    @describe("a") pub fn list() -> Array<Int> { [1, 2] }
    @describe("a") pub fn node() -> Node { Node { name: "a", children: [Node { name: "b", children: [] }] } }
    @describe("a") pub fn only() -> Only { Only { result: 4 } }
    @describe("a") pub fn any() -> Any { [1, "two", nil] }
    @describe("a") @param("n", "n") pub fn maybe(n: Int) -> Option<Int> { if n > 0 { Some(n) } else { None } }
    @describe("a") pub fn level() -> "low" | "high" { "low" }
    @describe("a") pub fn map() -> Map<String, Int> { {"result": 1} }
}
"""
CALLS = {
    "int()": ("Int", "3"),
    "float()": ("Float", "2.5"),
    "text()": ("String", "7"),
    "flag()": ("Bool", "true"),
    "list()": ("Array<Int>", "[1, 2]"),
    "node()": ("otherNode", ""),
    "only()": ("otherOnly", ""),
    'levels(otherLevel::Low, {"a": otherLevel::High})': (
        "Array<otherLevel>",
        "[otherLevel::Low, otherLevel::High]",
    ),
    "shape(0)": ("otherShape", "otherShape::Nothing"),
    "shape(1)": ("otherShape", "otherShape::Circle(1.5)"),
    "shape(2)": ("otherShape", "otherShape::Box { wide: 2, of: otherLevel::High }"),
    "shape(3)": ("otherShape", "otherShape::Both(3, otherLevel::Low)"),
    "event()": ("otherEvent", 'otherEvent { variant: "x", data: otherLevel::High }'),
    "outcome(1)": ("Array<Any>", '[{"ok": "Low"}, {"err": {"variant": "Circle", "data": 1.0}}]'),
    "tuple()": ("(Int, Option<otherLevel>)", "(1, Some(otherLevel::High))"),
    "same(other.node().unwrap())": ("Int", "1"),
    "any()": ("Any", '[1, "two", nil]'),
    "maybe(1)": ("Option<Int>", "Some(1)"),
    "maybe(0)": ("Option<Int>", "None"),
    "level()": ('"low" | "high"', "low"),
    "map()": ("Map<String, Int>", '{"result": 1}'),
}


def test_types_survive_a_sync_between_two_programs(tmp_path: Path) -> None:
    served = tmp_path / "served" / "main.conc"
    served.parent.mkdir()
    served.write_text(TYPED)
    command = json.dumps(SERVE[0]), json.dumps([*SERVE[1:], str(served)])
    (tmp_path / "Concerto.toml").write_text(
        f'[mcp.other]\ntransport = "stdio"\ncommand = {command[0]}\nargs = {command[1]}\n'
    )
    program = tmp_path / "main.conc"
    program.write_text("fn main() {}\n")
    concerto = [sys.executable, "-m", "concerto.cli"]
    for arguments in (["mcp", "sync", "other"], ["mcp", "lock"], ["mcp", "check"]):
        subprocess.run([*concerto, *arguments], cwd=tmp_path, check=True, timeout=240, capture_output=True)
    text = program.read_text()
    for call, (result, _) in CALLS.items():
        assert re.search(rf"fn {call.split('(')[0]}\(.*\) -> Result<{re.escape(result)}, ToolError>;", text)
    body = "".join(f"    println(other.{call}.unwrap());\n" for call, (_, said) in CALLS.items() if said)
    body += "    println(other.node().unwrap().children[0].name);\n"
    body += "    println(other.only().unwrap().result + 1);\n"
    program.write_text(text.replace("fn main() {}", f"fn main() {{\n{body}}}"))
    done = subprocess.run(
        [*concerto, "run", "."], cwd=tmp_path, timeout=240, capture_output=True, text=True, check=False
    )
    expected = [said for _, said in CALLS.values() if said] + ["b", "5"]
    assert (done.stdout.splitlines(), done.stderr) == (expected, "")


MARKED = """
tool Shelf {
    description: "Books",
    @describe("a") @read_only pub fn look() -> Result<Int, ToolError>;
    @describe("a") @idempotent pub fn put() -> Result<Int, ToolError>;
    @describe("a") pub fn lend() -> Result<Int, ToolError>;
}
"""


def test_what_may_be_repeated_is_told_and_written_by_a_sync(tmp_path: Path) -> None:
    served = tmp_path / "served" / "main.conc"
    served.parent.mkdir()
    served.write_text(MARKED)

    async def body(client: Client) -> None:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert hints["lend"] is None
        told = {name: (each.read_only_hint, each.idempotent_hint) for name, each in hints.items() if each}
        assert told == {"look": (True, None), "put": (None, True)}

    talk(stdio(served), body)
    args = json.dumps([*SERVE[1:], str(served)])
    settings = f'[mcp.other]\ntransport = "stdio"\ncommand = {json.dumps(SERVE[0])}\nargs = {args}\n'
    (tmp_path / "Concerto.toml").write_text(settings)
    (tmp_path / "main.conc").write_text("fn main() {}\n")
    sync = [sys.executable, "-m", "concerto.cli", "mcp", "sync", "other"]
    subprocess.run(sync, cwd=tmp_path, check=True, timeout=240, capture_output=True)
    text = (tmp_path / "main.conc").read_text()
    written = re.findall(r"(@\w+)?\n *fn (\w+)\(", text)
    assert written == [("@read_only", "look"), ("@idempotent", "put"), ("", "lend")]

"""Servers as they are in the field: mcp-server-time, git, everything, filesystem, over all transports."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.diagnostics import Problems
from concerto.manifest import load_manifest
from concerto.program import Runtime
from concerto.testing import find_tests, run_tests
from tests.mcp import peers
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, chat_at, make_runtime
from tests.runtime.servers import Script, chat_reply

Run = Callable[..., Outcome]

EVERYTHING = """
    @describe("Echo") @param("message", "What") fn echo(message: String) -> Result<String, ToolError>;
    @describe("Sum") @param("a", "One") @param("b", "Other")
    fn get_sum(a: Int, b: Float) -> Result<String, ToolError>;
    @describe("Weather") @param("location", "Where")
    fn get_structured_content(location: "New York" | "Chicago") -> Result<Weather, ToolError>;
    @describe("Image") fn get_tiny_image() -> Result<Any, ToolError>;
    @describe("Links") @param("count", "How many")
    fn get_resource_links(count: Int = 2) -> Result<Any, ToolError>;
    @describe("Resource") @param("resourceType", "Text or Blob")
    fn get_resource_reference(resourceType: "Text" | "Blob") -> Result<Any, ToolError>;
    @describe("Long") @param("duration", "Seconds") @param("steps", "Steps")
    fn trigger_long_running_operation(duration: Float, steps: Int) -> Result<String, ToolError>;
"""


def everything(settings: str, body: str, functions: str = EVERYTHING) -> str:
    return f"""
struct Weather {{ temperature: Float, conditions: String, humidity: Int }}
mcp Everything {{ {settings}, {functions} }}
fn main() -> Result<Nil, ToolError> {{ {body} Ok(nil) }}
"""


def stdio() -> str:
    return f'transport: "stdio", command: "{peers.node_program("mcp-server-everything")} stdio"'


def test_time(run: Run) -> None:
    source = f"""
struct Moment {{ timezone: String, datetime: String, is_dst: Bool }}
mcp Time {{
    command: "{peers.python_server("mcp-server-time")} --local-timezone UTC",
    @describe("Now") @param("timezone", "IANA name")
    fn get_current_time(timezone: String) -> Result<Moment, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    let now = Time.get_current_time(timezone: "Asia/Tokyo")?;
    println("${{now.timezone}} ${{now.is_dst}} ${{now.datetime.ends_with("+09:00")}}");
    match Time.get_current_time("Nowhere") {{
        Ok(_) => println("found"), Err(e) => println("${{e.kind}} ${{e.tool}} ${{e.method}}")
    }}
    Ok(nil)
}}
"""
    assert run(source).lines == ["Asia/Tokyo false true", "ToolFailed Time get_current_time"]


def test_git(run: Run, tmp_path: Path) -> None:
    for arguments in (
        ["init", "-q"],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, timeout=120)
    source = f"""
mcp Git {{
    command: "{peers.python_server("mcp-server-git")}",
    @describe("Commits") @param("repo_path", "Where") @param("max_count", "Most")
    @param("start_timestamp", "Since")
    fn git_log(
        repo_path: String, max_count: Int = 1, start_timestamp: Option<String> = None
    ) -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{ println(Git.git_log("{tmp_path}")?.contains("first")); Ok(nil) }}
"""
    assert run(source).lines == ["true"]


def test_filesystem(run: Run, tmp_path: Path) -> None:
    """A path with blanks, in a command of several words."""
    folder = tmp_path / "my files"
    folder.mkdir()
    (folder / "note.txt").write_text("remember")
    command = json.dumps(f"{peers.node_program('mcp-server-filesystem')} '{folder}'")
    source = f"""
mcp Files {{
    command: {command},
    @describe("Read") @param("path", "Where") fn read_text_file(path: String) -> Result<String, ToolError>;
    @describe("List") fn list_allowed_directories() -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    println(Files.read_text_file("{folder}/note.txt")?);
    println(Files.read_text_file("/etc/hostname").is_err());
    Ok(nil)
}}
"""
    assert run(source).lines == ["remember", "true"]


BODY = """
    println(Everything.echo("hello")?);
    println(Everything.get_sum(1, b: 2.5)?);
    let weather = Everything.get_structured_content("Chicago")?;
    println(weather.humidity > 0);
"""
SAID = ["Echo: hello", "The sum of 1 and 2.5 is 3.5.", "true"]


def test_everything_over_stdio(run: Run) -> None:
    assert run(everything(stdio(), BODY)).lines == SAID


def test_everything_over_streamable_http(run: Run, everything_http: str) -> None:
    assert run(everything(f'transport: "http", url: "{everything_http}"', BODY)).lines == SAID


def test_everything_over_sse(run: Run, everything_sse: str) -> None:
    assert run(everything(f'transport: "sse", url: "{everything_sse}"', BODY)).lines == SAID


def test_images_and_resources_are_described(run: Run) -> None:
    body = """
    let blocks = Everything.get_tiny_image()?;
    println(blocks[1].type); println(blocks[1].mime_type); println(blocks[1].bytes > 100);
    let links = Everything.get_resource_links()?;
    println(links[1].type); println(typeof(links[1].uri));
    let text = Everything.get_resource_reference("Text")?;
    println(text[1].type); println(text[1].mime_type);
    let blob = Everything.get_resource_reference("Blob")?;
    println(blob[1].bytes > 1);
    """
    outcome = run(everything(stdio(), body))
    assert outcome.lines == [
        "image", "image/png", "true", "resource_link", "String", "resource", "text/plain", "true"
    ]  # fmt: skip


def test_a_model_sees_the_image_of_a_server(run: Run, script: Script) -> None:
    script.answer(chat_reply(None, ("id1", "Everything__get_tiny_image", "{}")), chat_reply("A cat"))
    body = 'println(Looker.execute("Look").unwrap().text);'
    agent = 'agent Looker { provider: openai, model: "m", tools: [Everything] }'
    outcome = run(everything(stdio(), body) + agent, connections=chat_at(script.url))
    assert outcome.lines == ["A cat"], outcome.err
    result, shown = script.seen[1].body["messages"][-2:]
    assert '"mime_type": "image/png"' in result["content"]
    assert "base64" not in result["content"]
    [_, image] = shown["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


PARTS = """
    @describe("Image") fn get_tiny_image() -> Result<Array<Part>, ToolError>;
    @describe("Echo") @param("message", "What") fn echo(message: String) -> Result<Part, ToolError>;
    @describe("Links") @param("count", "How many")
    fn get_resource_links(count: Int = 2) -> Result<Part, ToolError>;
    @describe("Resource") @param("resourceType", "Text or Blob")
    fn get_resource_reference(resourceType: "Text" | "Blob") -> Result<Array<Part>, ToolError>;
"""


def test_answers_are_read_as_parts_and_models_are_shown_them(run: Run, script: Script) -> None:
    script.answer(chat_reply(None, ("id1", "Everything__get_tiny_image", "{}")), chat_reply("A cat"))
    body = """
    let shown = |part: Part| "${part.kind} ${part.media_type} ${part.data.len() > 100}";
    println(Everything.get_tiny_image()?.map(shown));
    println(Everything.echo("a")?.text);
    println(Everything.get_resource_links(2));
    for part in Everything.get_resource_reference("Blob")? {
        println("${part.kind} ${part.uri} ${part.data.len() > 0}");
    }
    println(Looker.execute("Look").unwrap().text);
    """
    agent = 'agent Looker { provider: openai, model: "m", tools: [Everything] }'
    outcome = run(everything(stdio(), body, PARTS) + agent, connections=chat_at(script.url))
    pictures, echo, links, *resource, answer = outcome.lines
    assert pictures == '["text  false", "image image/png true", "text  false"]'
    assert (echo, answer) == ("Echo: a", "A cat")
    assert "it has 3 parts, and one is declared" in links
    assert re.match(r"file \S+ true", resource[1])
    result, shown = script.seen[1].body["messages"][-2:]
    assert '"kind": "image"' in result["content"] and "iVBOR" not in result["content"]
    assert shown["content"][-1]["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_progress_is_shown_under_debug(run: Run) -> None:
    body = "Everything.trigger_long_running_operation(0.2, 2)?;"
    outcome = run(everything(stdio(), body), debug=True)
    assert "[mcp:Everything] trigger_long_running_operation: 1/2" in outcome.err
    assert "Starting default (STDIO) server..." in outcome.err
    assert run(everything(stdio(), body)).err == ""


def test_progress_is_traced_under_its_call(run: Run) -> None:
    trace = StringIO()
    run(everything(stdio(), "Everything.trigger_long_running_operation(0.2, 2)?;"), trace=trace)
    lines = [json.loads(line) for line in trace.getvalue().splitlines()]
    [call] = [each for each in lines if each["event"] == "begin" and each["kind"] == "McpCall"]
    notes = [each for each in lines if each["event"] == "note"]
    assert [(each["kind"], each["parent"], each["facts"]["progress"]) for each in notes] == [
        ("progress", call["id"], 1), ("progress", call["id"], 2)
    ]  # fmt: skip
    assert [each["facts"]["total"] for each in notes] == [2, 2]


def test_an_agent_calls_three_tools_of_a_server(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a server that only the manifest knows: its names are made safe, its own words are told."""
    calls = [
        ("1", "Everything__echo", '{"message": "hello"}'),
        ("2", "Everything__get-sum", '{"a": 1, "b": 2}'),
        ("3", "Everything__get-tiny-image", "{}"),
    ]
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    (tmp_path / "Concerto.toml").write_text(f"""
[connections.openai]
base_url = "{script.url}"
[mcp.Everything]
command = "{peers.node_program("mcp-server-everything")} stdio"
""")
    (tmp_path / "main.conc").write_text("""
agent Tester { provider: openai, model: "m", tools: [Everything] }
fn main() -> Result<Nil, AgentError> {
    let response = Tester.execute("go")?;
    println(response.text);
    for call in response.tool_calls { println("${call.tool}::${call.method} ${call.success}"); }
    println(response.tool_calls[0].result);
    Ok(nil)
}
""")
    program = compile_file(tmp_path / "main.conc")
    manifest = load_manifest(tmp_path / "Concerto.toml")
    environment = {**os.environ, "OPENAI_API_KEY": "k"}
    runtime = Runtime(program, manifest=manifest, environment=environment, quiet=True, folder=tmp_path)
    assert runtime.run().status == 0, capsys.readouterr().err
    assert capsys.readouterr().out.splitlines() == [
        "done",
        "Everything::echo true",
        "Everything::get-sum true",
        "Everything::get-tiny-image true",
        "Echo: hello",
    ]
    offered = {each["function"]["name"]: each["function"] for each in script.seen[0].body["tools"]}
    assert offered["Everything__echo"]["description"] == "Echoes back the input string"
    assert offered["Everything__get-sum"]["parameters"]["required"] == ["a", "b"]
    results = [each["content"] for each in script.seen[1].body["messages"] if each["role"] == "tool"]
    assert results[:2] == ["Echo: hello", "The sum of 1 and 2 is 3."]
    image = json.loads(results[2])[1]
    assert image["type"] == "image" and "data" not in image


def test_a_model_is_told_the_program_s_words(run: Run, script: Script) -> None:
    script.answer(
        chat_reply(None, ("1", "Odd__add", '{"a": 1}'), ("2", "Odd__add", '{"a": "x"}')), chat_reply("done")
    )
    source = f"""
mcp Odd {{
    command: {json.dumps(scripted())},
    @describe("Our words") @param("a", "Our number") @param("b", "Our other")
    fn add(a: Int, b: Int = 5) -> Result<Int, ToolError>;
}}
agent Tester {{ provider: openai, model: "m", tools: [Odd::add] }}
fn main() -> Result<Nil, AgentError> {{
    for call in Tester.execute("go")?.tool_calls {{ println("${{call.result}}"); }}
    Ok(nil)
}}
"""
    outcome = run(source, connections=chat_at(script.url), environment={**os.environ, "OPENAI_API_KEY": "k"})
    assert outcome.lines[0] == "6", outcome.err
    assert "expected an integer" in outcome.lines[1]
    [offer] = script.seen[0].body["tools"]
    assert offer["function"]["description"] == "Our words"
    assert offer["function"]["parameters"]["properties"]["a"] == {
        "type": "integer",
        "description": "Our number",
    }


def test_denied_tools_are_neither_offered_nor_called(run: Run, script: Script) -> None:
    script.answer(chat_reply("done"))
    source = f"""
mcp Odd {{
    command: {json.dumps(scripted())},
    @describe("Adds") @param("a", "One") fn add(a: Int) -> Result<Int, ToolError>;
    @describe("Who") fn pid() -> Result<String, ToolError>;
}}
agent Tester {{ provider: openai, model: "m", tools: [Odd] }}
fn main() -> Result<Nil, AgentError> {{
    Tester.execute("go")?;
    match Odd.add(1) {{ Ok(_) => println("called"), Err(e) => println(e.kind) }}
    Ok(nil)
}}
"""
    outcome = run(
        source,
        connections=chat_at(script.url),
        permissions={"Odd::add": False},
        environment={**os.environ, "OPENAI_API_KEY": "k"},
    )
    assert outcome.lines == ["PermissionDenied"]
    assert [each["function"]["name"] for each in script.seen[0].body["tools"]] == ["Odd__pid"]


def test_an_agent_is_not_run_with_an_interface_that_does_not_fit(run: Run, script: Script) -> None:
    source = f"""
mcp Odd {{
    command: {json.dumps(scripted())},
    @describe("Adds") @param("first", "One") fn add(first: Int) -> Result<Int, ToolError>;
}}
agent Tester {{ provider: openai, model: "m", tools: [Odd] }}
fn main() {{ println(Tester.execute("go").is_err()); println("went on"); }}
"""
    outcome = run(source, connections=chat_at(script.url), environment={**os.environ, "OPENAI_API_KEY": "k"})
    assert (outcome.status, outcome.lines, script.seen) == (1, [], [])
    assert outcome.err == (
        "error: mcp server `Odd` does not fit its declaration: "
        "`add`: the server knows no parameter `first`; it has `a`, `b`; "
        "`add`: the server requires a parameter `a`, which is not declared\n"
    )


def test_all_pages_of_the_tools_are_read(run: Run) -> None:
    source = f"""
mcp Odd {{
    command: {json.dumps(scripted("pages"))},
    @describe("Last") fn cancelled() -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{ println(Odd.cancelled()?); Ok(nil) }}
"""
    assert run(source).lines == ["[]"]


def test_a_server_gets_the_variables_it_is_given_and_few_others(run: Run) -> None:
    source = f"""
mcp Odd {{
    command: {json.dumps(scripted())}, env: {{ "TOKEN": env("MY_TOKEN"), "LEVEL": "high" }},
    @describe("All") fn environment() -> Result<Map<String, String>, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    let all = Odd.environment()?;
    println("${{all["TOKEN"]}} ${{all["LEVEL"]}}");
    println("${{all.has("MY_TOKEN")}} ${{all.has("OTHER")}} ${{all.has("PATH")}}");
    Ok(nil)
}}
"""
    environment = {**os.environ, "MY_TOKEN": "secret", "OTHER": "x"}
    assert run(source, environment=environment).lines == ["secret high", "false false true"]


def test_nothing_is_sent_for_an_option_without_a_value(run: Run) -> None:
    source = f"""
struct Filter {{ name: String, most: Option<Int> = None }}
mcp Odd {{
    command: {json.dumps(scripted())},
    @describe("Shows") @param("filter", "F") @param("note", "N")
    fn arguments(filter: Filter, note: Option<String> = None) -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    println(Odd.arguments(Filter {{ name: "a" }})?);
    println(Odd.arguments(Filter {{ name: "a", most: Some(1) }}, Some("b"))?);
    Ok(nil)
}}
"""
    assert run(source).lines == [
        '{"filter": {"name": "a"}}',
        '{"filter": {"name": "a", "most": 1}, "note": "b"}',
    ]


ELICIT = '@describe("Ask") fn trigger_elicitation_request() -> Result<String, ToolError>;'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"name": "Ada", "check": True}, "provided"),
        ({"action": "cancel"}, "cancelled"),
        (None, "declined"),
        ({"name": 5}, "does not fit"),
    ],
)
def test_questions_of_a_server_are_answered_by_a_handler(
    answer: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    body = """
    match Everything.trigger_elicitation_request() { Ok(text) => println(text), Err(e) => println(e.message) }
    """
    asked: list[Any] = []

    async def handler(question: Any) -> Any:
        asked.append(question)
        return answer

    source = everything(stdio(), body, ELICIT)
    runtime = make_runtime(source, handlers={"mcp:elicit": handler}, environment=os.environ, quiet=True)
    assert runtime.run().status == 0
    assert said in capsys.readouterr().out.lower()
    assert asked[0]["server"] == "Everything" and "name" in asked[0]["schema"]["properties"]


def test_a_mocked_server_is_not_started(tmp_path: Path) -> None:
    source = """
mcp Odd {
    command: "no-such-server",
    @describe("Adds") @param("a", "One") fn add(a: Int) -> Result<Int, ToolError>;
}
agent Tester { provider: openai, model: "m", tools: [Odd] }
@test fn adds() {
    mock Odd { add: 42 };
    mock Tester { script: [call("Odd::add", {"a": 1}), reply("done")] };
    let response = Tester.execute("go").unwrap();
    assert_eq(response.tool_calls[0].result, 42);
    assert_eq(Odd.add(2).unwrap(), 42);
}
"""
    (tmp_path / "main.conc").write_text(source)
    [outcome] = run_tests(find_tests(tmp_path / "main.conc", Problems()))
    assert outcome.passed, outcome.failure

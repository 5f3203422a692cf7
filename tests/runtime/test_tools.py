"""Tools: contexts, execution outside, Python, permissions, decorators, and the library's own."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_file
from concerto.manifest import load_manifest
from concerto.program import Runtime
from concerto.runtime.tools.python_tools import python_tool, tool
from tests.harness.commands import run as run_command
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]

AGENT = 'agent Assistant { provider: openai, model: "gpt-4o", tools: [%s] }\n'
EXECUTE = 'fn main() { println(Assistant.execute("go").unwrap().text); }\n'


def call(name: str, arguments: str = "{}", call_id: str = "1") -> Any:
    return chat_reply(None, (call_id, name, arguments))


def told(script: Script) -> str:
    """What the model was told of the last call."""
    return str(script.seen[-1].body["messages"][-1]["content"])


def test_context_and_data_are_shared_by_the_tools_of_an_execution(script: Script, run: Run) -> None:
    source = (
        AGENT % "Travel"
        + """
    tool Travel {
        description: "Travel",
        @describe("Go to a city")
        @param("city", "Where to")
        pub fn go(self, city: String, context: ToolContext) -> String {
            context.set("city", city);
            context.update("trips", |old| match old { Some(n) => n + 1, None => 1 });
            context.data.set("last", city);
            "gone by ${context.agent} in ${context.iteration}"
        }
        @describe("Where we are")
        pub fn place(self, context: ToolContext) -> String {
            "${context.get("city").unwrap_or("nowhere")}"
        }
    }
    hashmap shared: HashMap<String, Any> = HashMap::new();
    fn main() {
        Assistant.with_context(shared).execute("go").unwrap();
        println("${shared.get("city")} ${shared.get("trips")}");
    }
    """
    )
    script.answer(call("Travel__go", '{"city": "Rome"}'), call("Travel__place"), chat_reply("done"))
    outcome = run(source, connections=chat_at(script.url))
    assert outcome.out == 'Some("Rome") Some(1)\n', outcome.err
    assert script.seen[0].body["tools"][0]["function"]["parameters"]["properties"].keys() == {"city"}
    assert script.seen[1].body["messages"][-1]["content"] == "gone by Assistant in 1"
    assert told(script) == "Rome"


OUTSIDE = (
    AGENT % "Database"
    + """
tool Database {
    description: "Rows",
    @describe("Ask")
    @param("sql", "The query")
    pub fn query(self, sql: String, limit: Int = 10) -> Result<Array<Map<String, Any>>, ToolError>;
}
""".replace("limit: Int", '@param("Rows at most") limit: Int')
)


def test_a_method_without_a_body_is_executed_by_a_handler(script: Script, run: Run) -> None:
    script.answer(call("Database__query", '{"sql": "select"}'), chat_reply("done"))
    source = (
        OUTSIDE
        + """
    fn main() {
        println(Assistant.execute("go").unwrap().text);
        println(Database.query("direct", 1).unwrap());
    }
    """
    )

    async def query(arguments: Any) -> Any:
        return [{"sql": arguments["sql"]}]

    outcome = run(source, connections=chat_at(script.url), handlers={"tool:Database::query": query})
    assert outcome.out == 'done\n[{"sql": "direct"}]\n', outcome.err
    assert told(script) == '[{"sql": "select"}]'


PROVIDED = """
trait Greets {
    fn greet(self, name: String) -> String;
    fn twice(self, name: String) -> String { self.greet(name) + self.greet("${name}!") }
}
tool Desk impl Greets {
    description: "Greets",
    @describe("Greets")
    @param("name", "who")
    pub fn greet(self, name: String) -> String;
}
fn main() { println(Desk.twice("you")); }
"""


def test_what_a_trait_provides_calls_a_method_without_a_body(run: Run) -> None:
    def greet(arguments: dict[str, str]) -> str:
        return f"<{arguments['name']}>"

    assert run(PROVIDED, handlers={"tool:Desk::greet": greet}).out == "<you><you!>\n"


def test_a_handler_that_fails_or_lies_is_told_to_the_model(script: Script, run: Run) -> None:
    def broken(arguments: Any) -> Any:
        raise ValueError("no database")

    script.answer(call("Database__query", '{"sql": "select"}'), chat_reply("done"))
    run(OUTSIDE + EXECUTE, connections=chat_at(script.url), handlers={"tool:Database::query": broken})
    assert "no database" in told(script)
    script.answers[:] = []
    script.answer(call("Database__query", '{"sql": "select"}'), chat_reply("done"))
    run(OUTSIDE + EXECUTE, connections=chat_at(script.url), handlers={"tool:Database::query": lambda _: 5})
    assert "InvalidResult" in told(script)


def test_without_a_handler_the_run_asks_for_action(script: Script, run: Run) -> None:
    script.answer(call("Database__query", '{"sql": "select"}', "call_9"), chat_reply("done"))
    outcome = run(OUTSIDE + EXECUTE, connections=chat_at(script.url))
    assert outcome.status == 3
    [waits] = outcome.runtime.pending
    wanted = {"call_id": "call_9", "kind": "call", "name": "Database::query", "arguments": {"sql": "select"}}
    assert {name: waits[name] for name in wanted} == wanted
    assert "the run is not kept" in outcome.err


WEATHER = """
begun = []

class Weather:
    def initialize(self):
        begun.append("begun")

    async def now(self, city: str, days: int = 1) -> dict:
        '''The weather in a city.'''
        return {"city": city, "days": days}

    def shutdown(self):
        begun.append("ended")
"""


def test_tools_written_in_python(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "weather_tool.py").write_text(WEATHER)
    (tmp_path / "Concerto.toml").write_text(
        f'[tools.Weather]\nimport = "weather_tool:Weather"\n[connections.openai]\nbase_url = "{script.url}"\n'
    )
    (tmp_path / "main.conc").write_text(AGENT % "Weather" + EXECUTE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    script.answer(call("Weather__now", '{"city": "Rome"}'), chat_reply("done"))
    program = compile_file(tmp_path / "main.conc")
    manifest = load_manifest(tmp_path / "Concerto.toml")
    runtime = Runtime(program, manifest=manifest, folder=tmp_path, quiet=True)
    assert runtime.run().status == 0, capsys.readouterr().err
    function = script.seen[0].body["tools"][0]["function"]
    assert function["description"] == "The weather in a city."
    assert function["parameters"]["required"] == ["city"]
    assert told(script) == '{"city": "Rome", "days": 1}'
    assert sys.modules["weather_tool"].begun == ["begun", "ended"]


def test_a_module_of_tools_that_fails_is_one_message(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_tool.py").write_text("raise ValueError('no licence')\n")
    (tmp_path / "Concerto.toml").write_text(
        f'[tools.Weather]\nimport = "broken_tool:Weather"\n[connections.openai]\nbase_url = "{script.url}"\n'
    )
    (tmp_path / "main.conc").write_text(AGENT % "Weather" + EXECUTE)
    monkeypatch.setattr(sys, "path", list(sys.path))
    program = compile_file(tmp_path / "main.conc")
    manifest = load_manifest(tmp_path / "Concerto.toml")
    assert Runtime(program, manifest=manifest, folder=tmp_path, quiet=True).run().status == 1
    told = "tool `Weather` cannot be made from `broken_tool:Weather`: ValueError: no licence"
    assert told in capsys.readouterr().err


def test_the_host_may_give_a_tool_by_its_name() -> None:
    @tool
    def weather(city: str, days: int = 1) -> str:
        """The weather in a city."""
        return f"{city} {days}"

    made = python_tool("weather", weather)
    assert [method.signature.parameters["properties"] for method in made.methods] == [
        {"city": {"type": "string"}, "days": {"type": "integer", "default": 1}}
    ]


TWO = (
    AGENT % "Pen"
    + """
tool Pen {
    description: "A pen",
    @describe("Write")
    pub fn write(self) -> Result<String, ToolError> { Ok("written") }
    @describe("Erase")
    pub fn erase(self) -> Result<String, ToolError> { Ok("erased") }
}
"""
)


def test_a_denied_method_is_not_offered_and_cannot_be_called(script: Script, run: Run) -> None:
    script.answer(call("Pen__erase"), chat_reply("done"))
    source = (
        TWO
        + """
    fn main() {
        Assistant.execute("go").unwrap();
        match Pen.erase() { Ok(text) => println(text), Err(error) => println("${error.kind}") }
        println(Pen.write().unwrap());
    }
    """
    )
    outcome = run(source, connections=chat_at(script.url), permissions={"Pen::erase": False})
    assert outcome.out == "PermissionDenied\nwritten\n", outcome.err
    assert [each["function"]["name"] for each in script.seen[0].body["tools"]] == ["Pen__write"]
    assert "there is no tool `Pen__erase`" in told(script)


DECORATED = (
    AGENT % "Slow"
    + """
tool Slow {
    description: "Slow",
    tries: Int = 0,
    @describe("Sleep")
    @timeout(seconds: 0.05)
    pub fn sleep(self) -> Result<String, ToolError> { time::sleep(5000); Ok("slept") }
    @describe("Fail twice")
    @retry(max: 3, delay_ms: 1)
    pub fn third(mut self) -> Result<Int, ToolError> {
        self.tries += 1;
        if self.tries < 3 { return Err(ToolError::new("again")); }
        Ok(self.tries)
    }
    @describe("Count")
    @cache(ttl_seconds: 60)
    @log(channel: "audit")
    pub fn count(mut self, @param("any") n: Int) -> Result<Int, ToolError> { self.tries += 1; Ok(self.tries) }
    @describe("Refuse")
    @log(channel: "audit")
    pub fn refuse() -> Result<Int, Reason> { Err(Reason { why: "shut" }) }
}
struct Reason { why: String }
"""
)


def test_decorators_hold_for_calls_from_code(run: Run) -> None:
    source = (
        "use std::time;\n"
        + DECORATED
        + """
    fn main() {
        println(Slow.sleep());
        println(Slow.third());
        println("${Slow.count(1)} ${Slow.count(1)} ${Slow.count(2)}");
        println(Slow.refuse().is_err());
    }
    """
    )
    outcome = run(source, mock=True)
    assert outcome.err == ""
    assert outcome.lines[0] == "Err(`Slow::sleep` took longer than 0.05 seconds)"
    assert outcome.lines[1] == "Ok(3)"
    assert outcome.lines[-3] == "Ok(4) Ok(4) Ok(5)"
    assert outcome.lines[-2].endswith('"error": "Reason { why: \\"shut\\" }"}')
    assert next(line for line in outcome.lines if "[emit:audit]" in line).startswith(
        '[emit:audit] {"call": "Slow::count"'
    )


def test_decorators_hold_for_calls_of_models(script: Script, run: Run) -> None:
    script.answer(call("Slow__sleep"), chat_reply("done"))
    run("use std::time;\n" + DECORATED + EXECUTE, connections=chat_at(script.url))
    assert "took longer than 0.05 seconds" in told(script)


def library(script: Script, run: Run, tool_name: str, name: str, arguments: str, **options: Any) -> str:
    script.answers[:] = []
    script.answer(call(name, arguments), chat_reply("done"))
    source = f"use std::tools::{tool_name};\n" + AGENT % tool_name + EXECUTE
    outcome = run(source, connections=chat_at(script.url), **options)
    assert outcome.status == 0, outcome.err
    return told(script)


def test_files_are_read_and_written_below_the_folder_only(script: Script, run: Run, tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "secret.txt"
    inside.mkdir()
    outside.write_text("secret")
    (inside / "link.txt").symlink_to(outside)
    (inside / "note.txt").write_text("hello")

    def ask(name: str, arguments: str) -> str:
        return library(script, run, "FileTool", f"FileTool__{name}", arguments, folder=inside)

    assert ask("read", '{"path": "note.txt"}') == "hello"
    assert ask("write", '{"path": "new.txt", "content": "new"}') == "true"
    assert (inside / "new.txt").read_text() == "new"
    assert ask("exists", '{"path": "nothing.txt"}') == "false"
    for path in ("../secret.txt", "link.txt", str(outside), "a/../../secret.txt"):
        assert "PermissionDenied" in ask("read", f'{{"path": "{path}"}}')
        assert "PermissionDenied" in ask("write", f'{{"path": "{path}", "content": "x"}}')
    assert outside.read_text() == "secret"
    assert "NotFound" in ask("read", '{"path": "nothing.txt"}')
    assert "IsFolder" in ask("read", '{"path": "."}')


def test_the_shell_is_denied_until_allowed(script: Script, run: Run, tmp_path: Path) -> None:
    denied = library(script, run, "ShellTool", "ShellTool__exec", '{"command": "echo hi"}')
    assert "there is no tool" in denied

    def ask(command: str, timeout_ms: int = 60_000) -> str:
        arguments = f'{{"command": "{command}", "timeout_ms": {timeout_ms}}}'
        return library(
            script,
            run,
            "ShellTool",
            "ShellTool__exec",
            arguments,
            permissions={"ShellTool": True},
            folder=tmp_path,
        )

    assert ask("echo hi") == "hi\n"
    assert "status 3: oops" in ask("echo oops >&2; exit 3")
    assert "took longer than 300 ms" in ask("(sleep 30; touch late) & sleep 30", 300)
    assert not (tmp_path / "late").exists()


def test_hosts_need_to_be_on_the_allow_list(script: Script, run: Run) -> None:
    with Script() as site:
        site.answer(Answer("page", headers={"x-kind": "test"}))
        arguments = f'{{"url": "{site.url}/page"}}'
        assert "not on the allow list" in library(script, run, "HttpTool", "HttpTool__get", arguments)
        assert site.seen == []
        answer = library(
            script, run, "HttpTool", "HttpTool__get", arguments, permissions={"http": ["127.0.0.1"]}
        )
        assert '"status": 200' in answer
        assert '"body": "page"' in answer


def test_a_redirect_does_not_lead_past_the_allow_list(script: Script, run: Run) -> None:
    with Script() as site:
        site.answer(Answer("", 302, {"location": "http://localhost:1/private"}))
        arguments = f'{{"url": "{site.url}/page"}}'
        answer = library(
            script, run, "HttpTool", "HttpTool__get", arguments, permissions={"http": ["127.0.0.1"]}
        )
        assert "not on the allow list" in answer


@pytest.mark.parametrize("parallel", [True, False])
def test_calls_of_one_turn_run_at_once_unless_told_otherwise(
    script: Script, run: Run, parallel: bool
) -> None:
    source = """
    agent Assistant { provider: openai, model: "gpt-4o", tools: [Nap], parallel_tool_calls: PARALLEL }
    tool Nap {
        description: "Naps",
        @describe("Nap")
        pub fn nap(self) -> String { println("begin"); let _ = await emit("nap", 1); println("end"); "slept" }
    }
    """.replace("PARALLEL", str(parallel).lower())
    begun, all_have_begun = 0, asyncio.Event()

    async def nap(_: object) -> None:
        nonlocal begun
        begun += 1
        if not parallel:
            await asyncio.sleep(0.02)
        elif begun == 3:
            all_have_begun.set()
        else:
            await all_have_begun.wait()

    naps = [(str(n), "Nap__nap", "{}") for n in range(3)]
    script.answer(chat_reply(None, *naps), chat_reply("done"))
    outcome = run(source + EXECUTE, connections=chat_at(script.url), handlers={"nap": nap}, timeout=120)
    expected = ["begin"] * 3 + ["end"] * 3 if parallel else ["begin", "end"] * 3
    said = [line for line in outcome.lines if "[emit:" not in line]
    assert said == [*expected, "done"], outcome.err


ALIKE = """
tool A { description: "x", @describe("x") pub fn b__c() -> Int { 1 } }
tool A__b { description: "x", @describe("x") pub fn c() -> Int { 2 } }
agent Assistant { provider: openai, model: "m", tools: [A, A__b] }
"""


def test_two_tools_that_read_alike_on_the_wire_get_names_of_their_own(script: Script, run: Run) -> None:
    """Which calls which, what is allowed and what is forced goes by the tools."""
    script.answer(lambda seen: _both(seen) if len(seen.body["messages"]) == 1 else chat_reply("done"))
    source = """
    fn calls(asked: AgentBuilder) {
        for call in asked.execute("x").unwrap().tool_calls { println("${call.tool} ${call.result}"); }
    }
    fn main() {
        calls(Assistant.with_tools([A]));
        calls(Assistant.with_allowed_tools([A]));
        calls(Assistant.with_tool_choice(A__b::c));
    }
    """
    outcome = run(ALIKE + source, connections=chat_at(script.url))
    forbidden = '{"error": "`%s` is shown for context only and may not be called", "kind": "Forbidden"}'
    names = [tool["function"]["name"] for tool in script.seen[0].body["tools"]]
    assert (outcome.err, names[0], names[1][:8]) == ("", "A__b__c", "A__b__c_")
    assert outcome.lines == ["A 1", "A__b 2", "A 1", f"A__b {forbidden % names[1]}", "A 1", "A__b 2"]
    assert [len(seen.body["tools"]) for seen in script.seen] == [2] * 6
    assert script.seen[4].body["tool_choice"]["function"]["name"] == names[1]


def test_a_script_calls_the_tool_that_it_names(tmp_path: Path) -> None:
    source = """
    @test fn alike() {
        mock Assistant { script: [[call("A::b__c"), call("A__b::c")], reply("done")] }
        assert_eq(Assistant.execute("x").unwrap().tool_calls.map(|each| each.result), [1, 2]);
    }
    """
    (tmp_path / "main.conc").write_text(ALIKE + source)
    done = run_command("concerto", "test", "main.conc", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def _both(seen: Any) -> Any:
    names = [tool["function"]["name"] for tool in seen.body["tools"]]
    return chat_reply(None, *[(str(number), name, "{}") for number, name in enumerate(names)])


@pytest.mark.parametrize("command", ['"a\\u{0}b"', '"x".repeat(300000)'], ids=["null", "too long"])
def test_a_command_that_cannot_be_started_is_an_error_of_the_tool(run: Run, command: str) -> None:
    source = f"""use std::tools::ShellTool;
    fn main() {{ println(ShellTool.exec("echo " + {command}, 5000).err().map(|e| e.kind)); }}
    """
    assert run(source, permissions={"ShellTool": True}).out == 'Some("CommandFailed")\n'

"""Spans and metrics as a collector gets them: names, parents, attributes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from concerto.compiler import compile_source
from concerto.manifest.models import Manifest
from concerto.program import Runtime
from tests.harness.commands import command, environment
from tests.hosts.running import DECLARED, run_hosts
from tests.mcp.peers import scripted
from tests.runtime.running import AGENTS, Outcome, chat_at, run_program
from tests.runtime.servers import Answer, Script, chat_reply
from tests.telemetry.collector import Collector, SeenSpan

INTERNAL, CLIENT = 1, 3
ASK = 'fn main() { println(Assistant.execute("the prompt").unwrap().text); }'
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def run(source: str, capsys: pytest.CaptureFixture[str], seen: Collector, **options: Any) -> Outcome:
    options.setdefault("environment", {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url})
    return run_program(source, capsys, own_process=True, **options)


def context_of(span: SeenSpan) -> str:
    """What `traceparent` begins with; two digits of flags follow."""
    return f"00-{span.trace}-{span.id}-"


def test_an_execution_is_a_tree_by_the_conventions(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 2, "b": 3}')), chat_reply("five"))
    ended = run(AGENTS + ASK, capsys, seen, connections=chat_at(script.url))
    assert (ended.out, ended.err) == ("five\n", "")
    (root,) = [span for span in seen.spans if not span.parent]
    agent, tool = seen.one("invoke_agent Assistant"), seen.one("execute_tool Calculator::add")
    assert root.name.startswith("run ")
    assert seen.children(root) == [agent.name]
    assert seen.children(agent) == ["chat m", tool.name, "chat m"]
    assert {span.trace for span in seen.spans} == {root.trace}
    assert {span.schema for span in seen.spans} == {"https://opentelemetry.io/schemas/1.41.0"}
    assert len({span.attributes["gen_ai.conversation.id"] for span in seen.spans}) == 1
    chat = seen.named("chat m")[0]
    assert [span.kind for span in (root, agent, chat, tool)] == [INTERNAL, INTERNAL, CLIENT, INTERNAL]
    host, port = script.url.removeprefix("http://").split(":")
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": "Assistant",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "gpt-4o",
        "gen_ai.response.finish_reasons": ["tool_calls"],
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "server.address": host,
        "server.port": int(port),
    }
    assert expected.items() <= chat.attributes.items()
    assert chat.attributes["code.line.number"] > 1
    assert tool.attributes["gen_ai.tool.name"] == "Calculator::add"
    assert tool.attributes["gen_ai.tool.call.id"] == "1"
    assert (agent.attributes["gen_ai.usage.input_tokens"], agent.attributes["concerto.effect"]) == (
        20,
        "0.1/1",
    )
    asked = [request.headers["traceparent"] for request in script.seen]
    chats = sorted(seen.named("chat m"), key=lambda span: span.start)
    assert [each[:-2] for each in asked] == [context_of(span) for span in chats]


def test_calls_of_a_model_have_its_id_whoever_does_them(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
    mcp Sums { transport: "stdio", @describe("Add") @param("a", "n") pub fn add(a: Int) -> Int; }
    mcp Others { transport: "stdio" }
    agent Assistant { provider: openai, model: "m", tools: [look, Sums, Others] }
    """
    server = {"command": scripted()}
    manifest = {"mcp": {"Sums": server, "Others": server}, "connections": chat_at(script.url)}
    calls = ("1", "look", "{}"), ("2", "Sums__add", '{"a": 1}'), ("3", "Others__pid", "{}")
    script.answer(chat_reply(None, *calls), chat_reply("all done"))
    options: Any = {"environment": {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url}, "own_process": True}
    program = compile_source(source + ASK, tools={"look": lambda: "seen"})
    runtime = Runtime(program, manifest=Manifest.model_validate(manifest), quiet=True, **options)
    assert runtime.run().status == 0, capsys.readouterr().err
    names = ("look", "Sums::add", "Others::pid")
    spans = [seen.one(f"execute_tool {name}") for name in names]
    assert [span.attributes["gen_ai.tool.call.id"] for span in spans] == ["1", "2", "3"]


def test_metrics_are_those_of_the_conventions(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 2, "b": 3}')), chat_reply("five"))
    run(AGENTS + ASK, capsys, seen, connections=chat_at(script.url))
    usage = {point.attributes.get("gen_ai.token.type"): point for point in seen.points}
    assert [(usage[kind].count, usage[kind].sum) for kind in ("input", "output")] == [(2, 20), (2, 10)]
    assert (usage[None].name, usage[None].count) == ("gen_ai.client.operation.duration", 2)
    for point in seen.points:
        assert point.attributes["gen_ai.provider.name"] == "openai"
        first = 1 if point.name.endswith("usage") else 0.01
        assert (len(point.bounds), point.bounds[0]) == (14, first)


def test_content_is_sent_only_when_it_is_asked_for(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(
        chat_reply(None, ("1", "Calculator__add", '{"a": 77123, "b": "88456"}')), chat_reply("the answer")
    )
    source = AGENTS + "fn main(given: Array<String>) { println(Assistant.execute(given[0]).unwrap().text); }"
    told = {"connections": chat_at(script.url), "args": ["the prompt"]}
    run(source, capsys, seen, **told)
    sent = b"".join(seen.bodies)
    assert not [word for word in (b"77123", b"88456", b"the answer", b"the prompt") if word in sent]

    script.answers.insert(0, Answer(chat_reply(None, ("1", "Calculator__add", '{"a": 2, "b": 3}'))))
    seen.spans.clear()
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url, CONTENT: "true"}
    run(source, capsys, seen, **told, environment=asked)
    first, last = sorted(seen.named("chat m"), key=lambda span: span.start)
    messages = json.loads(first.attributes["gen_ai.input.messages"])
    assert messages == [{"role": "user", "parts": [{"type": "text", "content": "the prompt"}]}]
    assert json.loads(first.attributes["gen_ai.tool.definitions"])[0]["name"] == "Calculator__add"
    (called,) = json.loads(first.attributes["gen_ai.output.messages"])[0]["parts"]
    assert (called["name"], called["arguments"]) == ("Calculator__add", {"a": 2, "b": 3})
    (answer,) = json.loads(last.attributes["gen_ai.output.messages"])
    assert (answer["parts"][0]["content"], answer["finish_reason"]) == ("the answer", "stop")
    tool = seen.one("execute_tool Calculator::add")
    assert json.loads(tool.attributes["gen_ai.tool.call.arguments"]) == {"a": 2, "b": 3}
    assert json.loads(tool.attributes["gen_ai.tool.call.result"]) == 5


def test_what_is_no_text_for_protobuf_and_what_is_long_does_not_lose_the_rest(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(chat_reply("\ud800 </script>\x1b[31m\u202e" + "x" * 2**20))
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url, CONTENT: "SPAN_ONLY", "MY_TOKEN": "sk-very-secret"}
    source = 'fn main() { let _ = Reader.execute("sk-very-secret").unwrap(); }'
    run(AGENTS + source, capsys, seen, connections=chat_at(script.url), environment=asked)
    chat = seen.one("chat m")
    assert len(chat.attributes["gen_ai.output.messages"]) <= 100_001
    assert "</script>" in chat.attributes["gen_ai.output.messages"]
    assert "***" in chat.attributes["gen_ai.input.messages"]
    assert b"sk-very-secret" not in b"".join(seen.bodies)


def test_branches_and_agents_in_tools_have_the_right_parents(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
    agent Inner { provider: openai, model: "inner" }
    tool Helper {
        description: "Asks another agent",
        @describe("Ask")
        pub fn ask(@param("What") what: String) -> String { Inner.execute(what).unwrap().text }
    }
    agent Outer { provider: openai, model: "outer", tools: [Helper] }
    fn main() {
        let found = parallel for each in ["a", "b"] { Outer.execute(each).unwrap().text };
        println(found.join(" "));
    }
    """

    def answer(asked: Any) -> Any:
        messages = asked.body["messages"]
        if asked.body["model"] == "inner" or messages[-1]["role"] == "tool":
            return chat_reply(messages[-1]["content"].strip('"'))
        return chat_reply(None, ("1", "Helper__ask", json.dumps({"what": messages[-1]["content"]})))

    script.answer(answer)
    ended = run(source, capsys, seen, connections=chat_at(script.url))
    assert ended.out == "a b\n"
    (root,) = [span for span in seen.spans if not span.parent]
    assert seen.children(root) == ["invoke_agent Outer"] * 2
    for outer in seen.named("invoke_agent Outer"):
        assert seen.children(outer) == ["chat outer", "execute_tool Helper::ask", "chat outer"]
    for tool in seen.named("execute_tool Helper::ask"):
        assert seen.children(tool) == ["invoke_agent Inner"]
    for inner in seen.named("invoke_agent Inner"):
        assert seen.children(inner) == ["chat inner"]


def test_a_failure_has_its_type_and_its_attempts(
    seen: Collector, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(Answer({"error": {"message": "too busy"}}, 503), chat_reply("well"))
    source = """
    agent Patient { provider: openai, model: "m", retry_policy: { max_attempts: 2, initial_delay_ms: 1 } }
    agent Hasty { provider: openai, model: "n", retry_policy: { max_attempts: 1 } }
    tool Till {
        description: "Refuses",
        @describe("Pay")
        pub fn pay() -> Result<Int, ToolError> { Err(ToolError::new("not to be quoted")) }
    }
    fn main() {
        println(Patient.execute("x").unwrap().text);
        println("${Hasty.execute("x").is_err()} ${Till.pay().is_err()}");
    }
    """
    script.answers.append(Answer({"error": {"message": "too busy"}}, 503))
    ended = run(source, capsys, seen, connections=chat_at(script.url))
    assert ended.status == 0, ended.err
    well, ill, till = seen.one("chat m"), seen.one("chat n"), seen.one("execute_tool Till::pay")
    assert [name for name, _ in well.events] == ["attempt"]
    assert (well.failed, well.attributes["concerto.attempts"]) == (False, 2)
    assert (ill.failed, ill.attributes["error.type"]) == (True, "ProviderError")
    assert "too busy" in ill.message
    assert (till.failed, till.message) == (True, "")


def test_a_pipeline_is_a_workflow_and_its_stages_are_inside(
    seen: Collector, capsys: pytest.CaptureFixture[str]
) -> None:
    source = """
    pipeline Twice(n: Int) -> Int {
        stage first(n: Int) -> Int { n * 2 }
        stage second(n: Int) -> Int { n + 1 }
    }
    fn main() { println("${Twice.run(20).unwrap()}"); }
    """
    assert run(source, capsys, seen).out == "41\n"
    flow = seen.one("invoke_workflow Twice")
    assert flow.attributes["gen_ai.workflow.name"] == "Twice"
    assert seen.children(flow) == ["stage Twice::first", "stage Twice::second"]


def test_the_context_goes_on_to_servers_hosts_and_the_web(
    seen: Collector, script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer({"ok": True})
    told = {"OTEL_EXPORTER_OTLP_ENDPOINT": seen.url}
    source = f"""
    use std::http;
    mcp Echo {{
        @describe("Tell what came with the request") pub fn meta() -> String;
    }}
    {DECLARED}
    fn main() {{
        println(Echo.meta());
        println(Worker.execute("show").unwrap().text);
        http::get("{script.url}/place?key=value").unwrap();
    }}
    """
    server = json.dumps(str(Path(__file__).with_name("meta_server.py")))
    more = f"[mcp.Echo]\ncommand = {json.dumps(sys.executable)}\nargs = [{server}]\n"
    more += '[permissions]\nhttp = ["127.0.0.1"]\n'
    ended = run_hosts(source, tmp_path, capsys, more=more, environment=environment() | told, own_process=True)
    assert ended.status == 0, ended.err
    tool, agent, web = seen.one("execute_tool Echo::meta"), seen.one("invoke_agent Worker"), seen.one("GET")
    assert (tool.kind, tool.attributes["mcp.method.name"]) == (CLIENT, "tools/call")
    assert json.loads(ended.lines[0])["traceparent"].startswith(context_of(tool))
    assert json.loads(ended.lines[1])["traceparent"].startswith(context_of(agent))
    assert script.seen[0].headers["traceparent"].startswith(context_of(web))
    assert web.attributes["http.response.status_code"] == 200
    assert web.attributes["url.full"].endswith("/place?…")


def test_a_run_that_goes_on_keeps_its_conversation_and_counts_nothing_twice(
    seen: Collector, script: Script, tmp_path: Path
) -> None:
    script.answer(chat_reply("well"))
    (tmp_path / "Concerto.toml").write_text(
        f'[telemetry]\notlp = "{seen.url}"\n[connections.openai]\nbase_url = "{script.url}"\n'
    )
    program = tmp_path / "asking.conc"
    program.write_text(
        'agent Reader { provider: openai, model: "m" }\n'
        'tool Desk { description: "A person", @describe("Ask") pub fn ask() -> Result<String, ToolError>; }\n'
        "fn main() {\n"
        '    println(Reader.execute("x").unwrap().text);\n'
        "    println(Desk.ask().unwrap());\n"
        "}\n"
    )
    told = environment() | {"CONCERTO_STATE": str(tmp_path / "state"), "OPENAI_API_KEY": "key"}

    def concerto(*given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command("concerto", *given), cwd=tmp_path, env=told, capture_output=True, text=True, timeout=240
        )

    first = concerto("run", program.name)
    assert first.returncode == 3, first.stderr
    waiting = [span for span in seen.spans if span.attributes.get("concerto.waits")]
    assert sorted(span.name for span in waiting) == ["execute_tool Desk::ask", "run asking.conc"]
    assert not any(span.failed or "error.type" in span.attributes for span in seen.spans)
    (kept,) = json.loads(concerto("runs", "--json").stdout)
    call = kept["waits_for"][0]["call_id"]
    assert concerto("resume", kept["id"], "--result", f'{call}="done"').stdout.endswith("done\n")
    assert {span.attributes["gen_ai.conversation.id"] for span in seen.spans} == {kept["id"]}
    assert len(seen.named("chat m")) == 1
    assert sum(point.count for point in seen.points if point.name.endswith("duration")) == 1
    assert {span.resource["service.name"] for span in seen.spans} == {"asking"}


def test_spans_go_to_the_provider_of_the_program_that_embeds_it(tmp_path: Path) -> None:
    code = tmp_path / "embedding.py"
    code.write_text(
        "from opentelemetry import trace\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "from opentelemetry.sdk.trace.export import SimpleSpanProcessor\n"
        "from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter\n"
        "from concerto import Runtime, compile_source\n"
        "spans = InMemorySpanExporter()\n"
        "provider = TracerProvider()\n"
        "provider.add_span_processor(SimpleSpanProcessor(spans))\n"
        "trace.set_tracer_provider(provider)\n"
        "tracer = trace.get_tracer('own')\n"
        "def look() -> str:\n"
        "    with tracer.start_as_current_span('inside the tool'):\n"
        "        return 'seen'\n"
        'source = \'tool Eye { description: "E", @describe("Look") pub fn look() -> String; }\'\n'
        "source += ' fn main() { println(Eye.look()); }'\n"
        "with tracer.start_as_current_span('request'):\n"
        "    Runtime(compile_source(source), handlers={'tool:Eye::look': lambda given: look()}).run()\n"
        "names = {each.context.span_id: each.name for each in spans.get_finished_spans()}\n"
        "for each in spans.get_finished_spans():\n"
        "    print(each.name, '<', each.parent and names[each.parent.span_id])\n"
    )
    done = subprocess.run(
        [sys.executable, str(code)], env=environment(), capture_output=True, text=True, timeout=240
    )
    assert done.stdout.splitlines() == [
        "seen",
        "inside the tool < execute_tool Eye::look",
        "execute_tool Eye::look < run <source>",
        "run <source> < request",
        "request < None",
    ], done.stderr

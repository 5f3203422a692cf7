"""Traces: what a run did, line by line, and the tree that shows it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands import command, environment, one_line
from tests.harness.commands import run as run_command
from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, ModelServer, Script, chat_reply

Run = Callable[..., Outcome]
Line = dict[str, Any]

PROGRAM = """
tool Calculator {
    description: "Do arithmetic",
    @describe("Add two numbers together")
    @param("a", "The first number")
    @param("b", "The second number")
    pub fn add(a: Int, b: Int) -> Result<Int, ToolError> {
        if a < 0 { return Err(ToolError::new("too small")); }
        Ok(a + b)
    }
}
schema Person { name: String }
agent Assistant {
    provider: openai,
    model: "gpt-4o",
    temperature: 0.5,
    tools: [Calculator],
    retry_policy: { max_attempts: 3, initial_delay_ms: 1 },
}
"""
EXECUTE = """
fn main() {
    match Assistant.execute("the prompt") {
        Ok(response) => println("${response.text} ${response.repairs}"),
        Err(error) => println(error.message),
    }
}
"""


def traced(run: Run, source: str, **options: Any) -> list[Line]:
    stream = io.StringIO()
    run(source, trace=stream, **options)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def of(lines: list[Line], event: str, kind: str | None = None) -> list[Line]:
    return [line for line in lines if line["event"] == event and kind in (None, line.get("kind"))]


def ends(lines: list[Line], kind: str) -> list[Line]:
    ids = [line["id"] for line in of(lines, "begin", kind)]
    return [line for line in of(lines, "end") if line["id"] in ids]


def test_an_execution_is_a_tree_of_effects_with_stable_names(model_server: ModelServer, run: Run) -> None:
    model_server.call("Calculator__add", {"a": 2, "b": 2})
    model_server.reply("It is 4")
    lines = traced(run, PROGRAM + EXECUTE, connections={"openai": model_server.connection("openai")})
    assert [line["event"] for line in (lines[0], lines[-1])] == ["run", "end_of_run"]
    assert lines[-1]["status"] == 0
    begins = {line["id"]: line for line in of(lines, "begin")}
    assert [(key, line["kind"], line["parent"]) for key, line in begins.items()] == [
        ("0.1/1", "AgentRun", None),
        ("0.1/2", "ModelCall", "0.1/1"),
        ("0.1.1/1", "ToolCall", "0.1/1"),
        ("0.1/3", "ModelCall", "0.1/1"),
    ]
    assert sorted(line["id"] for line in of(lines, "end")) == sorted(begins)
    assert begins["0.1.1/1"]["arguments"] == '[{"a": 2, "b": 2}]'
    first, second = ends(lines, "ModelCall")
    assert [call["name"] for call in first["tool_calls"]] == ["Calculator__add"]
    whole = ends(lines, "AgentRun")[0]
    assert whole["tokens_in"] == first["tokens_in"] + second["tokens_in"] > 0


def test_attributes_are_named_as_opentelemetry_does(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Calculator__add", '{"a": 1, "b": 2}')), chat_reply("done"))
    lines = traced(run, PROGRAM + EXECUTE, connections=chat_at(script.url))
    operations = [line["attributes"]["gen_ai.operation.name"] for line in of(lines, "begin")]
    assert operations == ["invoke_agent", "chat", "execute_tool", "chat"]
    asked = of(lines, "begin", "ModelCall")[0]["attributes"]
    assert asked["gen_ai.provider.name"] == "openai"
    assert asked["gen_ai.request.model"] == "gpt-4o"
    assert asked["gen_ai.request.temperature"] == 0.5
    given = ends(lines, "ModelCall")[0]["attributes"]
    assert (given["gen_ai.usage.input_tokens"], given["gen_ai.usage.output_tokens"]) == (10, 5)


def test_prompts_answers_and_secrets_are_not_in_it(script: Script, run: Run) -> None:
    secret = "sk-very-secret"
    arguments = json.dumps({"a": 1, "b": 2, "c": f"{'x' * 490}{secret}"})
    script.answer(chat_reply(None, ("1", "Calculator__add", arguments)), chat_reply("the answer"))
    source = """
    fn main() {
        Assistant.execute("the prompt").unwrap();
        let _ = http::get("http://me:pass@127.0.0.1:9/place?key=value");
        Assistant.execute(env("MY_VERY_OWN")).unwrap();
        let _asked = await emit("key", env("MY_VERY_OWN"));
    }
    """
    stream = io.StringIO()
    run(
        "use std::http;\n"
        + PROGRAM
        + source.replace("env(", "std::env::require(").replace('OWN")', 'OWN").unwrap()'),
        trace=stream,
        connections=chat_at(script.url, api_key_env="MY_VERY_OWN"),
        manifest={"permissions": {"http": ["*"]}},
        environment={"MY_VERY_OWN": secret},
    )
    text = stream.getvalue()
    assert "http://***@127.0.0.1:9/place?…" in text
    assert '"payload": "\\"***\\""' in text
    for hidden in (secret, secret[:10], "the prompt", "the answer", "me:pass", "key=value"):
        assert hidden not in text


def test_attempts_and_failures_are_told(script: Script, run: Run) -> None:
    script.answer(Answer({"error": "busy"}, 500), Answer({"error": "wrong"}, 400))
    lines = traced(run, PROGRAM + EXECUTE, connections=chat_at(script.url))
    assert [(line["attempt"], line["error"]["kind"]) for line in of(lines, "attempt")] == [
        (1, "ProviderError"),
        (2, "ProviderError"),
    ]
    (call,) = ends(lines, "ModelCall")
    assert (call["outcome"], call["attempts"], call["error"]["type"]) == ("error", 2, "AgentError")


def test_a_failing_tool_and_calls_that_never_began(script: Script, run: Run) -> None:
    calls = (
        ("1", "Calculator__add", '{"a": -1, "b": 2}'),
        ("2", "Calculator__sub", "{}"),
        ("3", "Calculator__add", '{"a":'),
    )
    script.answer(chat_reply(None, *calls), chat_reply("done"))
    lines = traced(run, PROGRAM + EXECUTE, connections=chat_at(script.url))
    (call,) = ends(lines, "ToolCall")
    assert (call["outcome"], call["error"]["message"]) == ("error", "too small")
    assert [line["facts"]["call"] for line in of(lines, "note", "refused")] == [
        "Calculator__sub",
        "Calculator::add",
    ]


@pytest.mark.parametrize("tier", ["python", "interpreter"])
def test_the_place_of_a_failure_in_a_tool_is_for_its_author(script: Script, run: Run, tier: str) -> None:
    source = (
        PROGRAM.replace("Ok(a + b)", "Ok(first(a) / b)") + "fn first(a: Int) -> Int { [1, 2][a] }" + EXECUTE
    )
    arguments = ('{"a": 1, "b": 0}', '{"a": 9, "b": 1}', '{"a": 1, "b": 1}', '{"a": -1, "b": 1}', '{"a": 1}')
    calls = [(str(at), "Calculator__add", text) for at, text in enumerate(arguments)]
    script.answer(*[chat_reply(None, call) for call in calls], chat_reply("done"))
    stream = io.StringIO()
    outcome = run(source, trace=stream, tier=tier, debug=True, quiet=False, connections=chat_at(script.url))
    told = [json.loads(line.partition("] ")[2]) for line in outcome.lines if ":tool_result]" in line]
    known = [event["place"].partition(":")[2] for event in told if "place" in event]
    assert known == [place_in(source, "first(a) / b"), place_in(source, "[1, 2][a]")]
    assert ["place" in event for event in told] == [True, True, False, False, False]
    traces = ends([json.loads(line) for line in stream.getvalue().splitlines()], "ToolCall")
    assert [call.get("error", {}).get("place") for call in traces] == [each.get("place") for each in told[:4]]
    shown = outcome.err.split("[debug] ")
    (zero,) = [text for text in shown if "division by zero" in text]
    assert zero.endswith(f" │ {' ' * 11}{'^' * len('first(a) / b')}\n")
    assert sum("call stack, innermost first:\n  `first` at " in text for text in shown) == 1
    results = [each["content"] for each in script.seen[-1].body["messages"] if each["role"] == "tool"]
    assert len(results) == len(calls)
    assert not any(place in result for place in known for result in results)


def place_in(source: str, text: str) -> str:
    before = source[: source.index(text)]
    return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"


def test_repairs_are_on_the_response_in_an_event_and_in_the_trace(script: Script, run: Run) -> None:
    inner = '"{\\"a\\": 1, \\"b\\": 2}"'
    calls = (("1", "Calculator__add", inner), ("1", "Calculator__add", '{"a": 1, "b": 2}'))
    script.answer(chat_reply(None, *calls), chat_reply(""), chat_reply("done"))
    stream = io.StringIO()
    outcome = run(PROGRAM + EXECUTE, trace=stream, connections=chat_at(script.url), quiet=False)
    repairs = [
        "the repeated id `1` of a call of `Calculator__add` was replaced",
        "the arguments of `Calculator__add` stood in a string",
        "an empty answer was asked for again",
    ]
    assert outcome.lines[-1] == f"done {json.dumps(repairs, ensure_ascii=False)}"
    assert sum("agent:repaired" in line for line in outcome.lines) == 3
    notes = of([json.loads(line) for line in stream.getvalue().splitlines()], "note", "repaired")
    assert [repair for note in notes for repair in note["facts"]["repairs"]] == repairs
    assert {note["parent"] for note in notes} <= {"0.1/1", "0.1.1/1"}


def test_repairs_of_structured_output_are_in_the_trace(script: Script, run: Run) -> None:
    script.answer(chat_reply("I do not know"), chat_reply("```json\n{'name': 'Ann'}\n```"))
    source = 'fn main() { println(Assistant.execute_with_schema<Person>("Who?").unwrap().name); }'
    lines = traced(run, PROGRAM + source, connections=chat_at(script.url))
    assert [line["kind"] for line in of(lines, "note")] == ["schema_retry", "repaired"]
    assert of(lines, "note", "repaired")[0]["facts"]["repairs"] == [
        "code fence removed",
        "single quotes accepted",
    ]


def test_a_cached_answer_is_said_to_be_one(script: Script, run: Run) -> None:
    script.answer(chat_reply("done"))
    source = PROGRAM.replace("agent Assistant", "@cache(ttl_seconds: 60)\nagent Assistant") + EXECUTE.replace(
        "match", 'Assistant.execute("the prompt").unwrap(); match'
    )
    lines = traced(run, source, connections=chat_at(script.url))
    assert [line["outcome"] for line in ends(lines, "AgentRun")] == ["ok", "cached"]


def test_parts_of_branches_belong_to_their_own_execution(script: Script, run: Run) -> None:
    script.answer(chat_reply("done"))
    source = """
    fn ask(n: Int) -> String { Assistant.execute("${n}").unwrap().text }
    fn main() { let all = parallel for n in 0..20 { ask(n) }; assert_eq(all.len(), 20); }
    """
    lines = traced(run, PROGRAM + source, connections=chat_at(script.url))
    runs = {line["id"] for line in of(lines, "begin", "AgentRun")}
    calls = of(lines, "begin", "ModelCall")
    assert len(runs) == 20
    assert {line["parent"] for line in calls} == runs


def test_a_trace_that_cannot_be_written_any_more_does_not_end_the_run(run: Run) -> None:
    errors = io.StringIO()
    source = 'use std::time;\nfn main() { time::now(); println("ran"); }'
    with Path("/dev/full").open("w") as full:
        assert run(source, trace=full, errors=errors).out == "ran\n"
    warning = "warning: the trace ends here, it cannot be written: no space left on device\n"
    assert errors.getvalue().count(warning) == 1


class TestCommand:
    def test_the_tree(self, tmp_path: Path) -> None:
        (tmp_path / "main.conc").write_text(PROGRAM + EXECUTE)
        ran = run_command(
            "concerto", "run", "--mock", "--quiet", "--trace", "t.jsonl", "main.conc", cwd=tmp_path
        )
        assert ran.returncode == 0, ran.stderr
        shown = run_command("concerto", "trace", "t.jsonl", cwd=tmp_path)
        assert (shown.returncode, shown.stderr) == (0, "")
        root, execution, model = shown.stdout.splitlines()
        assert root.endswith("main.conc  ok")
        assert execution.startswith("└── AgentRun Assistant")
        assert model.startswith("    └── ModelCall Assistant  connection=openai model=gpt-4o")

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self, tmp_path: Path) -> None:
        (tmp_path / "main.conc").write_text('fn main() { println("ran"); }')
        ran = run_command("concerto", "run", "--trace", "no/where", "main.conc", cwd=tmp_path)
        one_line(ran, "cannot write `no/where`: no such file or directory")

    @pytest.mark.parametrize(
        "text", ["", "hello\n", '{"a": 1}\n', '{"event": "run"}\nrubbish\n{"event": "x"}\n']
    )
    def test_what_is_no_trace(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "t.jsonl").write_text(text)
        one_line(run_command("concerto", "trace", "t.jsonl", cwd=tmp_path), "t.jsonl")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        one_line(run_command("concerto", "trace", "t.jsonl", cwd=tmp_path), "cannot read `t.jsonl`")

    @pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
    def test_a_run_that_is_ended_leaves_what_it_did(
        self, tmp_path: Path, script: Script, sign: signal.Signals
    ) -> None:
        script.answer(Answer(chat_reply("late"), hang=5))
        (tmp_path / "main.conc").write_text(PROGRAM + EXECUTE)
        (tmp_path / "Concerto.toml").write_text(
            f'[connections.openai]\nprovider = "openai"\nbase_url = "{script.url}"\n'
        )
        trace = tmp_path / "t.jsonl"
        with subprocess.Popen(
            command("concerto", "run", "--quiet", "--trace", str(trace), "main.conc"),
            cwd=tmp_path,
            env=environment() | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            while not script.seen:
                assert process.poll() is None, process.communicate(timeout=120)
            os.kill(process.pid, sign)
            process.communicate(timeout=120)
        shown = run_command("concerto", "trace", "t.jsonl", cwd=tmp_path)
        assert shown.returncode == 1
        if sign is signal.SIGINT:
            assert "status 130: interrupted" in shown.stdout
            assert shown.stdout.count("stopped (CancelledError)") == 2
        else:
            assert "did not end" in shown.stdout
            assert shown.stdout.count("not ended") == 2

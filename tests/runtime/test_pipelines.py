"""Pipelines: their events, and what their scopes offer to agents."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.running import chat_at, make_runtime, run_program
from tests.runtime.servers import Script, chat_reply

TWO_STAGES = """
pipeline Both {
    @log(channel: "audit")
    stage check(n: Int) -> Result<Int, String> { if n < 0 { Err("negative") } else { Ok(n) } }
    stage show(n: Int) -> String { "<${n}>" }
}
fn main() { println(Both.run(%d)); }
"""

SCOPES = """
tool Wide { description: "w", @describe("w") pub fn wide() -> Int { 1 } }
tool Narrow { description: "n", @describe("n") pub fn narrow() -> Int { 2 } }
tool Own { description: "o", @describe("o") pub fn own() -> Int { 3 } }
agent Helper { provider: mock, tools: [Own] }

fn ask() -> Int {
    Helper.execute("hello").unwrap();
    0
}

@tools([Wide])
pipeline Scoped {
    @tools([Narrow])
    stage narrow(n: Int) -> Int { ask() }
    stage wide(n: Int) -> Int { ask() }
    @retry(max: 2)
    @tools([Narrow])
    stage inside(n: Int) -> Int {
        parallel for x in [1] { ask() };
        0
    }
}

fn main() {
    ask();
    Scoped.run(1).unwrap();
    ask();
}
"""


def events_of(source: str) -> list[dict[str, Any]]:
    """Every emit of a run, durations checked and taken out."""
    runtime = make_runtime(source, quiet=True)
    seen: list[dict[str, Any]] = []
    runtime.on("*", seen.append)
    runtime.run()
    for event in seen:
        ms = event["payload"].pop("ms", 0)
        assert isinstance(ms, int) and ms >= 0
    return seen


def test_each_step_is_an_event() -> None:
    events = [(event["channel"], event["payload"]) for event in events_of(TWO_STAGES % 1)]
    assert events == [
        ("pipeline:start", {"pipeline": "Both"}),
        ("pipeline:stage_start", {"pipeline": "Both", "stage": "check"}),
        ("audit", {"call": "Both::check", "success": True}),
        ("pipeline:stage_complete", {"pipeline": "Both", "stage": "check"}),
        ("pipeline:stage_start", {"pipeline": "Both", "stage": "show"}),
        ("pipeline:stage_complete", {"pipeline": "Both", "stage": "show"}),
        ("pipeline:complete", {"pipeline": "Both"}),
    ]


def test_an_error_is_the_last_event() -> None:
    events = [(event["channel"], event["payload"]) for event in events_of(TWO_STAGES % -1)]
    assert events[-1] == (
        "pipeline:error",
        {"pipeline": "Both", "stage": "check", "error": "negative", "kind": "Error"},
    )
    assert [channel for channel, _ in events].count("pipeline:complete") == 0


def test_failures_of_the_program_leave_a_pipeline_as_they_leave_a_function(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = """
    pipeline Broken { stage pick(xs: Array<Int>) -> Int { xs[3] } }
    fn main() {
        println(try { Broken.run([1]).unwrap() } catch RuntimeError(error) { println(error.kind); 0 });
        Broken.run([1]);
    }
    """
    outcome = run_program(source, capsys)
    assert outcome.status == 1
    assert outcome.lines == ["IndexError", "0"]
    assert "index 3 is out of bounds" in outcome.err
    assert "Broken::pick" in outcome.err


def test_tools_of_pipeline_and_stage_are_offered_inside_only() -> None:
    runtime = make_runtime(SCOPES, quiet=True)
    offered: list[int] = []
    runtime.on("agent:iteration", lambda payload: offered.append(payload["tools"]))
    assert runtime.run().status == 0
    assert offered == [1, 3, 2, 3, 1]


def test_a_budget_of_a_stage_holds_for_the_agents_in_it(
    script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script.answer(chat_reply("Once upon a time"))
    source = """
    agent Talker { provider: openai, model: "gpt-4o" }
    pipeline Cheap {
        @budget(tokens: 15)
        stage talk(text: String) -> Result<String, AgentError> {
            Talker.execute(text)?;
            Ok(Talker.execute(text)?.text)
        }
    }
    fn main() {
        for n in 0..2 {
            match Cheap.run("a long story") {
                Ok(text) => println(text),
                Err(error) => println("${error.kind}: ${error.message}"),
            }
        }
    }
    """
    outcome = run_program(source, capsys, connections=chat_at(script.url))
    # Every run of the stage has a budget of its own.
    told = "BudgetExceeded: `@budget` of `Cheap::talk` allows 15 tokens, 15 are spent"
    assert outcome.lines == [told, told]
    assert len(script.seen) == 2

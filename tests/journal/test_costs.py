"""What a run has cost is the same with and without limits, and when it is shown again."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from concerto import Runtime, compile_source
from concerto.cli.effect_tree import shown
from concerto.journal.recording import read_recording
from concerto.manifest.models import Manifest
from tests.runtime.running import chat_at
from tests.runtime.servers import Answer, Script, chat_reply

AGENTS = """
agent A { provider: openai, model: "m", timeout: 0.2, retry_policy: { max_attempts: 2, backoff: "none" } }
fn soon() -> String { time::sleep(100); "soon" }
fn ask() -> String { match A.execute("x") { Ok(reply) => reply.text, Err(error) => error.kind } }
fn read() -> String {
    let mut all = "";
    try { for chunk in A.stream("x")? { all = all + chunk.text; } all } catch AgentError(error) { error.kind }
}
fn first() -> String {
    try { for chunk in A.stream("x")? { return chunk.text; } "none" } catch AgentError(error) { error.kind }
}
"""
PLACES = {
    "asked": "ask()",
    "streamed": "read()",
    "read in part": "first()",
    "at once": "parallel for n in 0..3 { ask() }",
    "raced": "race (ask(), soon())",
    "raced with its like": "race (ask(), ask(), ask())",
}
FIRST = {
    "right": None,
    "no answer": Answer({}),
    "an answer that is cut": Answer("data: " + "x" * 50, cut=True),
    "a stream that is cut": Answer('data: {"choices": [{"delta": {"content": "some words"}}]}\n\n'),
    "too slow": Answer({}, hang=1.0),
    "no gateway": Answer({}, 502),
    "no answer of a gateway": Answer({}, 504),
    "refused": Answer({}, 400),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("first", FIRST)
def test_what_a_run_has_cost_is_the_same_again(
    script: Script, tmp_path: Path, first: str, place: str
) -> None:
    wrong, file = FIRST[first], tmp_path / "x.conc-run"
    program = compile_source(f"use std::time;\n{AGENTS}fn main() {{ println({PLACES[place]}); }}")
    prices = {"m": {"input": 1000.0, "output": 1000.0}}
    manifest = Manifest.model_validate({"prices": prices, "connections": chat_at(script.url)})
    script.answer(*([] if wrong is None else [wrong]), chat_reply("yes", model="m"))

    def run(**options: Any) -> tuple[Any, ...]:
        output = io.StringIO()
        result = Runtime(program, manifest=manifest, environment={}, output=output, **options).run()
        assert result.ok, result
        return output.getvalue(), result.tokens, pytest.approx(result.cost_usd)

    told = run(record=file)
    recording = read_recording(file)
    assert "ModelCall" in shown(recording, content=True)
    assert run(replay=file) == told
    assert run(replay=file, max_usd=1000.0, tier="interpreter") == told


@pytest.mark.parametrize("limits", [{}, {"max_usd": 1000.0}, {"max_tokens": 100_000}], ids=str)
def test_an_answer_of_no_use_is_paid_with_and_without_limits(script: Script, limits: dict[str, Any]) -> None:
    program = compile_source(f"use std::time;\n{AGENTS}fn main() {{ println(ask()); }}")
    manifest = Manifest.model_validate({"prices": {"m": {"input": 1.0, "output": 1.0}}})
    script.answer(Answer({}))
    run = Runtime(
        program,
        manifest=manifest,
        connections=chat_at(script.url),
        environment={},
        output=io.StringIO(),
        **limits,
    )
    assert run.run().tokens == 1

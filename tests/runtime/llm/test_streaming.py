"""Streams: chunks as they arrive, tools in between, and streams that break."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, ModelServer, Script, Seen, chat_reply
from tests.runtime.test_loop import CALCULATOR

Run = Callable[..., Outcome]

STREAM = """
fn main() {
    let mut text = "";
    match Assistant.stream("What is 2 + 2?") {
        Ok(chunks) => {
            for chunk in chunks {
                text += chunk.text;
                for call in chunk.tool_calls { println("calls ${call.name}"); }
                if chunk.done {
                    println("done: ${chunk.accumulated}");
                    println(chunk.response.unwrap().iterations);
                }
            }
            println(text);
        },
        Err(error) => println("no stream: ${error.kind}"),
    }
}
"""
CAUGHT = """
fn main() {
    try {
        for chunk in Assistant.stream("Hello").unwrap() {
            println(if chunk.done { "done" } else { "chunk" });
        }
    } catch AgentError(error) {
        println("broken: ${error.kind}");
    }
}
"""


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google"])
def test_a_stream_with_a_tool_call_on_every_wire(model_server: ModelServer, run: Run, provider: str) -> None:
    model_server.call("Calculator__add", {"a": 2, "b": 2})
    model_server.reply("The sum is four.")
    outcome = run(CALCULATOR + STREAM, connections={"openai": model_server.connection(provider)})
    assert outcome.lines == ["calls Calculator__add", "done: The sum is four.", "2", "The sum is four."], (
        outcome.err
    )
    assert all(request["stream"] for request in model_server.requests())


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google"])
@pytest.mark.parametrize("fault", ["disconnect", "truncate", "malformed"])
def test_a_broken_stream_is_thrown_into_the_loop(
    model_server: ModelServer, run: Run, provider: str, fault: str
) -> None:
    model_server.reply("one two three four five six seven eight nine ten " * 5)
    model_server.queue({"type": "stream_fault", "kind": fault, "after_chunks": 8})
    outcome = run(CALCULATOR + CAUGHT, connections={"openai": model_server.connection(provider)})
    assert outcome.lines[-1] == "broken: StreamBroken"
    assert "done" not in outcome.lines


def test_a_refused_stream_is_an_err(script: Script, run: Run) -> None:
    script.answer(Answer({"error": {"message": "no"}}, 401))
    assert run(CALCULATOR + STREAM, connections=chat_at(script.url)).out == "no stream: Authentication\n"


def test_a_stream_that_is_not_read_to_its_end_leaves_nothing_behind(
    model_server: ModelServer, run: Run
) -> None:
    model_server.reply("one two three four five six seven eight nine ten " * 50)
    source = """
    fn main() {
        for chunk in Assistant.stream("Hello").unwrap() { break; }
        println("left");
    }
    """
    outcome = run(CALCULATOR + source, connections={"openai": model_server.connection("openai")})
    assert outcome.out == "left\n"


@pytest.mark.parametrize("tier", ["interpreter", "python"])
@pytest.mark.parametrize(
    "reading",
    [
        "for chunk in STREAM.unwrap() { println(chunk.text); break; }",
        "for chunk in STREAM.unwrap().take(1) { println(chunk.text); }",
        "for chunk in STREAM.unwrap().results() { println(chunk.unwrap().text); break; }",
        'let _ = STREAM; println("Hel");',
    ],
)
def test_a_stream_that_nobody_reads_any_more_is_closed_while_the_run_goes_on(
    script: Script, run: Run, tier: str, reading: str
) -> None:
    def told(seen: Seen) -> Answer:
        deadline = monotonic() + 60
        while script.open_connections > 1 and monotonic() < deadline:
            sleep(0.01)
        return Answer(chat_reply(f"{script.open_connections} open"))

    chunk = 'data: {"choices": [{"delta": {"content": "Hel"}}]}\n\n'
    script.answer(Answer(chunk, endless=True), told)
    source = f"""
    fn main() {{
        {reading.replace("STREAM", 'Assistant.stream("Hello")')}
        println(Assistant.execute("And?").unwrap().text);
    }}
    """
    outcome = run(CALCULATOR + source, connections=chat_at(script.url), tier=tier)
    assert outcome.lines == ["Hel", "1 open"], outcome.err


def test_a_mocked_stream(run: Run) -> None:
    outcome = run(CALCULATOR + STREAM, mock=True)
    assert outcome.lines[-1] == "[mock response to: What is 2 + 2?]"


def test_silence_in_a_stream_ends_with_the_timeout(model_server: ModelServer, run: Run) -> None:
    model_server.reply("one two three four five six seven eight")
    model_server.queue({"type": "stream_fault", "kind": "stall", "after_chunks": 4, "stall_seconds": 15})
    connection = {**model_server.connection("openai"), "timeout": 1.5}
    assert run(CALCULATOR + CAUGHT, connections={"openai": connection}).lines[-1] == "broken: StreamBroken"


def test_usage_comes_with_the_last_chunk(script: Script, run: Run) -> None:
    events = [
        {"choices": [{"delta": {"content": "Hel"}}]},
        {"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    ]
    import json

    script.answer(Answer("".join(f"data: {json.dumps(each)}\n\n" for each in events) + "data: [DONE]\n\n"))
    source = """
    fn main() {
        for chunk in Assistant.stream("Hello").unwrap() {
            if chunk.done { println("${chunk.accumulated} ${chunk.response.unwrap().tokens_in}"); }
        }
    }
    """
    assert run(CALCULATOR + source, connections=chat_at(script.url)).out == "Hello 7\n"

"""Fallback models: a failure for good, an answer that stays unusable, and what none of them may do."""

from __future__ import annotations

from collections.abc import Callable

from concerto.json_data import Json
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script, Seen, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
tool Counter {
    description: "Counts",
    count: Int = 0,
    @describe("Count on")
    pub fn next(mut self) -> Int { self.count += 1; self.count }
}
schema Person { name: String }
connect spare { provider: "openai" }
agent Spare { provider: spare, model: "spare", temperature: 0.5, system_prompt: "Never told" }
agent Main {
    provider: openai, model: "m", tools: [Counter], system_prompt: "Be brief", seed: 7,
    retry_policy: { max_attempts: 1 }, fallback: ["n", Spare],
}
fn joined(chunks: Iterator<StreamChunk>) -> String {
    let mut text = "";
    for chunk in chunks { text += chunk.text; }
    text
}
fn main() {
    match Main.BODY {
        Ok(response) => println(response),
        Err(error) => println("${error.kind} ${error.agent}: ${error.message}"),
    }
}
"""
TEXT = 'execute("Hello").map(|r| "${r.text} by ${r.model} of ${r.provider}")'


def program(body: str, wire: str = "openai") -> str:
    return PROGRAM.replace("BODY", body).replace(", seed: 7", "" if wire == "anthropic" else ", seed: 7")


def at(script: Script, wire: str = "openai") -> dict[str, Json]:
    return {
        "openai": {"provider": wire, "base_url": script.url},
        "spare": {"provider": "openai", "base_url": script.url},
    }


def by_model(answers: dict[str, Json]) -> Callable[[Seen], Json]:
    return lambda seen: answers[seen.body["model"]]


DOWN = Answer({"error": {"message": "down"}}, 503)


def test_the_next_model_is_asked_when_one_fails_for_good(script: Script, run: Run) -> None:
    script.answer(by_model({"m": DOWN, "n": DOWN, "spare": chat_reply("Hi", model="spare-1")}))
    outcome = run(program(TEXT), connections=at(script), quiet=False)
    assert outcome.lines[-1] == "Hi by spare-1 of openai", outcome.err
    assert [seen.body["model"] for seen in script.seen] == ["m", "n", "spare"]
    first, second, third = (seen.body for seen in script.seen)
    assert (second["seed"], "seed" in third, third["temperature"]) == (7, False, 0.5)
    assert first["messages"] == second["messages"] == third["messages"]
    assert first["tools"] == third["tools"]
    told = [line for line in outcome.lines if line.startswith("[emit:agent:fallback]")]
    assert [('"next": "n"' in line, '"kind": "ProviderError"' in line) for line in told] == [
        (True, True), (False, True)
    ]  # fmt: skip


def test_when_all_fail_the_error_is_that_of_the_last(script: Script, run: Run) -> None:
    last = Answer({"error": {"message": "not yours"}}, 401)
    script.answer(by_model({"m": DOWN, "n": DOWN, "spare": last}))
    outcome = run(program(TEXT), connections=at(script))
    assert outcome.out.startswith("Authentication Main: "), outcome.out


def test_a_conversation_goes_on_where_it_was_on_another_wire(script: Script, run: Run) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    call = {"type": "tool_use", "id": "id1", "name": "Counter__next", "input": {}}
    asks = {"model": "m", "stop_reason": "tool_use", "content": [thinking, call]}
    turns = iter([asks, DOWN, DOWN])
    script.answer(lambda seen: next(turns) if seen.path == "/v1/messages" else chat_reply("One"))
    outcome = run(program(TEXT, "anthropic"), connections=at(script, "anthropic"))
    assert outcome.out == "One by gpt-4o of openai\n", outcome.err
    system, asked, called, result = script.seen[-1].body["messages"]
    assert (system["content"], asked["content"]) == ("Be brief", "Hello")
    assert [each["id"] for each in called["tool_calls"]] == ["id1"]
    assert (result["role"], result["content"]) == ("tool", "1")


def test_an_answer_that_stays_unusable(script: Script, run: Run) -> None:
    script.answer(by_model({"m": chat_reply("no idea"), "n": chat_reply('{"name": "Ann"}')}))
    body = 'execute_with_schema<Person>("Who?").map(|p| p.name)'
    outcome = run(program(body), connections=at(script))
    assert outcome.out == "Ann\n", outcome.err
    assert [seen.body["model"] for seen in script.seen] == ["m", "n"]
    assert "response_format" in script.seen[1].body
    assert script.seen[1].body["messages"][-1]["content"].startswith("That answer does not fit.")


def test_one_budget_over_all(script: Script, run: Run) -> None:
    def spends(seen: Seen) -> Json:
        return chat_reply("no idea", usage={"prompt_tokens": 900, "completion_tokens": 200})

    script.answer(spends)
    body = 'with_budget(tokens: 1000).execute_with_schema<Person>("Who?").map(|p| p.name)'
    outcome = run(program(body), connections=at(script))
    assert outcome.out.startswith("BudgetExceeded Main"), outcome.out
    assert len(script.seen) == 1


def test_a_stream_falls_back_before_its_first_piece(script: Script, run: Run) -> None:
    events = (
        'data: {"model": "n", "choices": [{"delta": {"content": "Hi"}}]}\n\n'
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    )
    script.answer(by_model({"m": DOWN, "n": Answer(events, headers={"content-type": "text/event-stream"})}))
    body = 'stream("Hello").map(|chunks| joined(chunks))'
    outcome = run(program(body), connections=at(script))
    assert outcome.out == "Hi\n", outcome.err + outcome.out

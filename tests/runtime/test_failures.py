"""Model servers that refuse, break, lie or say nothing: each ends in an error that names who and what."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.runtime.running import Outcome, chat_at
from tests.runtime.servers import Answer, ModelServer, Script, chat_reply

Run = Callable[..., Outcome]

PROGRAM = """
agent Assistant { provider: openai, model: "gpt-4o", retry_policy: { max_attempts: 1 } }
fn main() {
    match Assistant.execute("Hello") {
        Ok(response) => println(response.text),
        Err(error) => println("${error.kind} ${error.provider} ${error.status} ${error.message}"),
    }
}
"""
PATIENT = PROGRAM.replace("max_attempts: 1", 'max_attempts: 3, backoff: "exponential", initial_delay_ms: 20')


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Answer({"error": {"message": "bad key"}}, 401),
            "Authentication openai Some(401) `openai` answered 401: bad key",
        ),
        (
            Answer({"error": "no such model"}, 404),
            "ProviderError openai Some(404) `openai` answered 404: no such model",
        ),
        (
            Answer("<html><title>Oops</title><body>Bad gateway</body></html>", 502),
            "an HTML page (`Oops Bad gateway`)",
        ),
        (
            Answer("<html><body>Hello</body></html>"),
            "InvalidReply openai None `openai` gave an invalid answer: expected JSON",
        ),
        (Answer('{"choices": [{"mess'), "expected JSON, found `{"),
        (
            Answer({"choices": [{"message": {"content": "x" * 500}}]}, cut=True),
            "ConnectionLost openai None no answer from",
        ),
        (Answer(""), "expected JSON, found nothing"),
        (Answer([1, 2]), "expected a JSON object"),
        (Answer({"choices": []}), "the answer has no `choices.0`"),
        (
            Answer({"error": {"message": "overloaded"}}),
            "the answer has no `choices.0`; it says: overloaded",
        ),
        (Answer({"choices": "none"}), "invalid answer"),
        (Answer({"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}), "the answer has no `function`"),
    ],
)
def test_bad_answers(script: Script, run: Run, answer: Answer, said: str) -> None:
    script.answer(answer)
    outcome = run(PROGRAM, connections=chat_at(script.url))
    assert said in outcome.out
    assert outcome.status == 0
    assert script.all_closed()


def test_nobody_there(run: Run) -> None:
    outcome = run(PROGRAM, connections=chat_at("http://127.0.0.1:9"))
    assert outcome.out.startswith("ConnectionLost openai None no answer from `openai` at http://127.0.0.1:9")


def test_a_base_url_that_is_none(run: Run) -> None:
    outcome = run(PROGRAM, connections=chat_at("nowhere"))
    assert outcome.out.startswith("ConnectionLost openai")


def test_silence_ends_with_the_timeout(script: Script, run: Run) -> None:
    script.answer(Answer(chat_reply("late"), hang=2))
    outcome = run(PROGRAM, connections=chat_at(script.url, timeout=0.2))
    assert outcome.out == "Timeout openai None `openai` gave no answer within 0.2 seconds\n"


def test_passing_troubles_are_tried_again(script: Script, run: Run) -> None:
    script.answer(Answer({}, 500), Answer("cut off", cut=True), chat_reply("third time"))
    assert run(PATIENT, connections=chat_at(script.url)).out == "third time\n"
    assert len(script.seen) == 3


def test_lasting_troubles_are_not_tried_again(script: Script, run: Run) -> None:
    script.answer(Answer({}, 400), chat_reply("never"))
    assert run(PATIENT, connections=chat_at(script.url)).out.startswith("ProviderError")
    assert len(script.seen) == 1


def test_a_real_client_of_a_real_server(model_server: ModelServer, run: Run) -> None:
    """The model server itself judges how the failures of its own making were borne."""
    model_server.queue({"type": "fail", "status": 429, "retry_after": 0.3, "times": 1})
    model_server.queue({"type": "fail", "status": 503, "times": 1})
    model_server.reply("patience")
    outcome = run(PATIENT, connections={"openai": model_server.connection("openai")})
    assert outcome.out == "patience\n"
    assert model_server.verdict()["passed"], model_server.verdict()


def test_an_overlong_retry_after_is_not_waited_for(script: Script, run: Run) -> None:
    script.answer(Answer({}, 429, {"retry-after": "100000"}), chat_reply("never"))
    assert run(PATIENT, connections=chat_at(script.url)).out.startswith("RateLimited openai Some(429)")


def test_the_pause_that_google_asks_for_in_its_answer(script: Script, run: Run) -> None:
    told = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "100000s"}
    refused = {"error": {"code": 429, "message": "quota", "details": [told]}}
    script.answer(Answer(refused, 429), chat_reply("never"))
    assert run(PATIENT, connections=chat_at(script.url)).out.startswith("RateLimited openai Some(429)")
    assert len(script.seen) == 1


@pytest.mark.parametrize(
    "asked", ["9" * 400, time.asctime(time.gmtime(time.time() + 7200))], ids=["too long", "without a zone"]
)
def test_a_pause_of_any_length_and_without_a_zone(
    script: Script, run: Run, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("TZ", "Etc/GMT-9")
    time.tzset()
    try:
        script.answer(Answer({}, 429, {"retry-after": asked}), chat_reply("never"))
        outcome = run(PATIENT, connections=chat_at(script.url))
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    assert outcome.out.startswith("RateLimited openai Some(429)")


def test_a_server_that_leads_elsewhere_says_where(script: Script, run: Run) -> None:
    script.answer(Answer("", 301, {"location": "https://models.example/v1"}))
    outcome = run(PROGRAM, connections=chat_at(script.url))
    assert "answered 301: it leads to `https://models.example/v1`; see `base_url`" in outcome.out


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "google"])
@pytest.mark.parametrize("status", [401, 429, 500])
def test_refusals_of_every_wire(model_server: ModelServer, run: Run, provider: str, status: int) -> None:
    model_server.queue({"type": "fail", "status": status, "message": "not now", "times": 1})
    outcome = run(PROGRAM, connections={"openai": model_server.connection(provider)})
    assert f"Some({status}) `openai` answered {status}: not now" in outcome.out


def test_errors_say_who_was_asked_and_what_was_called(script: Script, run: Run) -> None:
    script.answer(chat_reply(None, ("1", "Desk__ask", '{"n": 1}')))
    source = """
    tool Desk {
        description: "A desk",
        @describe("Ask") @param("n", "which")
        pub fn ask(n: Int) -> Result<Int, ToolError> { Err(ToolError::new("bad")) }
        @describe("Throw") pub fn refuse() -> Result<Int, ToolError> { throw ToolError::new("no"); }
        @describe("Pass on") pub fn passed() -> Result<Int, ToolError> { Ok(Desk.ask(1)? + 1) }
    }
    agent Brief { provider: openai, model: "m", tools: [Desk], max_iterations: 1 }
    agent Strict { provider: openai, model: "m", tools: [Desk] }
    impl Strict {
        fn on_tool_error(self, name: String, error: ToolError) -> ToolErrorAction { ToolErrorAction::Fail }
    }
    fn main() {
        for result in [Desk.ask(0), Desk.refuse(), Desk.passed()] {
            let error = result.err().unwrap();
            println("${error.message}: ${error.tool} ${error.method}");
        }
        for result in [Brief.execute("x"), Strict.execute("x")] {
            let error = result.err().unwrap();
            println("${error.kind}: ${error.agent} ${error.provider}");
        }
    }
    """
    assert run(source, connections=chat_at(script.url)).lines == [
        "bad: Desk ask",
        "no: Desk refuse",
        "bad: Desk ask",
        "MaxIterationsExceeded: Brief openai",
        "ToolFailed: Strict openai",
    ]

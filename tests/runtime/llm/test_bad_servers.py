"""What servers and models do wrong, on every wire: each ends in a typed error that names agent and provider,
or in a result for the model, and leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

import pytest

from concerto.json_data import Json
from tests.runtime.running import Outcome
from tests.runtime.servers import Answer, Script, chat_reply

Run = Callable[..., Outcome]
Call: TypeAlias = tuple[str, str, str]
"""Id, name, and arguments as text."""

PROGRAM = """
tool Notes {
    description: "Keeps notes",
    @describe("How long a text is")
    pub fn size(@param("The text") text: String) -> Int { text.len() }
}
agent Assistant {
    provider: openai, model: "m", tools: [Notes], timeout: 30, retry_policy: { max_attempts: 1 },
}
"""
ASK = """
fn main() {
    match Assistant.execute("Hello") {
        Ok(response) => {
            println(response.text);
            for call in response.tool_calls { println("${call.success} ${call.result}"); }
        },
        Err(error) => println("${error.kind} ${error.agent} ${error.provider} ${error.status}"),
    }
}
"""
STREAM = """
fn main() {
    try {
        for chunk in Assistant.stream("Hello")? { print(chunk.text); }
        println("whole");
    } catch AgentError(error) {
        println(" ${error.kind} ${error.agent} ${error.provider} ${error.message}");
    }
}
"""


def _responses(text: str, *calls: Call) -> Json:
    said = {"type": "message", "content": [{"type": "output_text", "text": text}]}
    asked = [{"type": "function_call", "call_id": i, "name": n, "arguments": a} for i, n, a in calls]
    return {"status": "completed", "model": "m", "output": asked or [said]}


def _anthropic(text: str, *calls: Call) -> Json:
    asked = [{"type": "tool_use", "id": i, "name": n, "input": json.loads(a)} for i, n, a in calls]
    reason = "tool_use" if calls else "end_turn"
    return {"model": "m", "stop_reason": reason, "content": asked or [{"type": "text", "text": text}]}


def _gemini(text: str, *calls: Call) -> Json:
    asked: list[Json] = [{"functionCall": {"id": i, "name": n, "args": json.loads(a)}} for i, n, a in calls]
    return {"candidates": [{"content": {"parts": asked or [{"text": text}]}, "finishReason": "STOP"}]}


def _ollama(text: str, *calls: Call) -> Json:
    asked = [{"function": {"name": n, "arguments": json.loads(a)}} for _, n, a in calls]
    return {
        "message": {"content": "" if calls else text, "tool_calls": asked},
        "done": True,
        "done_reason": "stop",
    }


REPLIES: dict[str, Callable[..., Json]] = {
    "openai": chat_reply,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "google": _gemini,
    "ollama": _ollama,
}
BEGINNINGS: dict[str, list[Json]] = {
    "openai": [{"choices": [{"delta": {"content": "He"}}]}],
    "openai-responses": [{"type": "response.output_text.delta", "delta": "He"}],
    "anthropic": [
        {"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "He"}},
    ],
    "google": [{"candidates": [{"content": {"parts": [{"text": "He"}]}}]}],
    "ollama": [{"message": {"content": "He"}, "done": False}],
}
"""The first events of a streamed answer."""

on_every_wire = pytest.mark.parametrize("wire", REPLIES)


def at(script: Script, wire: str, **more: Json) -> dict[str, Json]:
    return {"openai": {"provider": wire, "base_url": script.url, **more}}


@on_every_wire
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer({"error": {"message": "why"}}, 401), "Authentication Assistant openai Some(401)"),
        (Answer({"error": {"message": "why"}}, 404), "ProviderError Assistant openai Some(404)"),
        (Answer({"error": {"message": "why"}}, 408), "Timeout Assistant openai Some(408)"),
        (Answer({"error": {"message": "why"}}, 409), "ProviderError Assistant openai Some(409)"),
        (Answer({"error": {"message": "why"}}, 429), "RateLimited Assistant openai Some(429)"),
        (Answer({"error": {"message": "why"}}, 500), "ProviderError Assistant openai Some(500)"),
        (Answer("<html><body>Hello</body></html>"), "InvalidReply Assistant openai None"),
        (Answer("<html><body>Bad gateway</body></html>", 502), "ProviderError Assistant openai Some(502)"),
        (Answer('{"model": "m", "ch'), "InvalidReply Assistant openai None"),
        (Answer({}), "InvalidReply Assistant openai None"),
        (Answer(""), "InvalidReply Assistant openai None"),
        (Answer({"text": "x" * 500}, cut=True), "ConnectionLost Assistant openai None"),
    ],
    ids=["401", "404", "408", "409", "429", "500", "html", "502", "half", "empty-object", "nothing", "cut"],
)
def test_bad_answers(script: Script, run: Run, wire: str, answer: Answer, said: str) -> None:
    script.answer(answer)
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    assert outcome.out.startswith(said), (outcome.out, outcome.err)
    assert (outcome.status, outcome.err) == (0, "")
    assert script.all_closed()


@on_every_wire
def test_silence(script: Script, run: Run, wire: str) -> None:
    script.answer(Answer({}, hang=1))
    outcome = run(PROGRAM.replace("timeout: 30", "timeout: 0.2") + ASK, connections=at(script, wire))
    assert outcome.out.startswith("Timeout Assistant openai None"), (outcome.out, outcome.err)
    assert script.all_closed()


@on_every_wire
@pytest.mark.parametrize("cut", [False, True])
def test_half_a_stream(script: Script, run: Run, wire: str, cut: bool) -> None:
    """It ends early, politely or in the middle of an event: what was read was given, then comes the error."""
    lines = [json.dumps(event) for event in BEGINNINGS[wire]]
    text = "".join([f"{line}\n" if wire == "ollama" else f"data: {line}\n\n" for line in lines])
    # A body that is cut ends in its middle.
    script.answer(Answer(text + " " * len(text) if cut else text, cut=cut))
    outcome = run(PROGRAM + STREAM, connections=at(script, wire))
    assert outcome.out.startswith("He StreamBroken Assistant openai the stream broke off"), outcome.err
    assert "whole" not in outcome.out
    assert script.all_closed()


@on_every_wire
@pytest.mark.parametrize("body", ["data: {\n\n", "<html>\n", "data: [1]\n\n", "", "[1]\n"])
def test_a_stream_of_rubbish(script: Script, run: Run, wire: str, body: str) -> None:
    script.answer(Answer(body))
    outcome = run(PROGRAM + STREAM, connections=at(script, wire))
    assert outcome.out.startswith(" InvalidReply Assistant openai"), (outcome.out, outcome.err)
    assert script.all_closed()


_TEXT_BLOCK = BEGINNINGS["anthropic"][1]
_TEXT = BEGINNINGS["anthropic"][2]
_TOOL_BLOCK = {
    "type": "content_block_start",
    "index": 0,
    "content_block": {"type": "tool_use", "id": "1", "name": "Notes__size", "input": {}},
}
_CALL = {"type": "function_call", "call_id": "1", "name": "Notes__size", "arguments": "{}"}


@pytest.mark.parametrize(
    ("wire", "answer", "why"),
    [
        ("openai", {"choices": [{"message": {"content": "hm"}, "finish_reason": "tool_calls"}]}, "has none"),
        ("anthropic", {"content": [{"type": "text", "text": "hm"}], "stop_reason": "tool_use"}, "has none"),
        ("google", {"candidates": [{"content": {"parts": [{"txt": 1}]}, "finishReason": "STOP"}]}, "no part"),
        ("openai-responses", {"output": [{"content": [{"type": "output_text", "text": "hm"}]}]}, "no `type`"),
    ],
)  # fmt: skip
def test_an_answer_at_odds_with_itself(script: Script, run: Run, wire: str, answer: Json, why: str) -> None:
    script.answer(answer)
    source = PROGRAM + ASK.replace("${error.status}", "${error.message}")
    outcome = run(source, connections=at(script, wire))
    assert outcome.out.startswith("InvalidReply Assistant openai"), (outcome.out, outcome.err)
    assert why in outcome.out


def exchanged(data: Json, text: str, other: Json) -> Json:
    """JSON with another value in the place of a text."""
    if isinstance(data, dict):
        return {name: exchanged(each, text, other) for name, each in data.items()}
    if isinstance(data, list):
        return [exchanged(each, text, other) for each in data]
    return other if data == text else data


@on_every_wire
@pytest.mark.parametrize("other", [5, True, {"text": "hm"}, [[]]], ids=str)
@pytest.mark.parametrize("form", [ASK, STREAM], ids=["whole", "streamed"])
def test_a_text_that_is_none(script: Script, run: Run, wire: str, other: Json, form: str) -> None:
    """It is not taken for an answer without words."""
    events = exchanged(BEGINNINGS[wire], "He", other)
    start = "" if wire == "ollama" else "data: "
    streamed = "".join(f"{start}{json.dumps(event)}\n\n" for event in events)
    script.answer(exchanged(REPLIES[wire]("Hello"), "Hello", other) if form is ASK else streamed)
    outcome = run(PROGRAM + form, connections=at(script, wire))
    assert outcome.out.strip().startswith("InvalidReply Assistant openai"), (outcome.out, outcome.err)


@pytest.mark.parametrize("form", [ASK, STREAM], ids=["whole", "streamed"])
def test_a_text_in_parts(script: Script, run: Run, form: str) -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "He"}, {"text": "llo"}]
    choice = {"message": {"content": parts}, "delta": {"content": parts}, "finish_reason": "stop"}
    text = json.dumps({"choices": [choice]})
    script.answer(Answer(text if form is ASK else f"data: {text}\n\n"))
    assert run(PROGRAM + form, connections=at(script, "openai")).out.startswith("Hello")


def test_a_stream_that_begins_with_a_mark_of_its_encoding(script: Script, run: Run) -> None:
    event = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    script.answer(Answer(f"\ufeffdata: {json.dumps(event)}\n\n"))
    assert run(PROGRAM + STREAM, connections=at(script, "openai")).out == "Hellowhole\n"


def test_what_comes_behind_the_end_of_a_stream_is_none_of_it(script: Script, run: Run) -> None:
    event = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    script.answer(Answer(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n" * 2))
    assert run(PROGRAM + STREAM, connections=at(script, "openai")).out == "Hellowhole\n"


@pytest.mark.parametrize(("cut", "told"), [(None, "Hellowhole\n"), (-1, "an event is no JSON: `{`")])
def test_an_event_whose_data_are_several_lines(script: Script, run: Run, cut: int | None, told: str) -> None:
    event = {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}
    lines = json.dumps(event, indent=1).splitlines()[:cut]
    script.answer(Answer("".join([f"data: {line}\n" for line in lines])))
    assert told in run(PROGRAM + STREAM, connections=at(script, "openai")).out


@on_every_wire
def test_a_call_without_a_name(script: Script, run: Run, wire: str) -> None:
    script.answer(REPLIES[wire]("", ("1", "", "{}")))
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    assert outcome.out.startswith("InvalidReply Assistant openai"), (outcome.out, outcome.err)


@pytest.mark.parametrize(
    ("wire", "events", "why"),
    [
        ("openai-responses", [
            *BEGINNINGS["openai-responses"],
            {"type": "response.completed", "response": _responses("Hello")},
        ], "the pieces of the text are not the text"),
        ("openai-responses", [
            {"type": "response.output_item.done", "item": _CALL},
            {"type": "response.completed", "response": _responses("Hello")},
        ], "the calls that came are not those"),
        ("openai-responses", [{"delta": "He"}], "the answer has no `type`"),
        ("anthropic", [_TEXT_BLOCK, _TEXT, _TEXT_BLOCK], "block 0 begins twice"),
        ("anthropic", [_TOOL_BLOCK, _TEXT], "block 0 is no text"),
        ("anthropic", [{"index": 0}], "the answer has no `type`"),
        ("anthropic", [_TEXT_BLOCK, {**_TEXT, "delta": {"text": "He"}}], "the answer has no `type`"),
        ("openai", [{"choices": [{"delta": {"content": "He"}, "finish_reason": "tool_calls"}]}], "has none"),
    ],
)  # fmt: skip
def test_a_stream_at_odds_with_itself(
    script: Script, run: Run, wire: str, events: list[Json], why: str
) -> None:
    script.answer(Answer("".join([f"data: {json.dumps(event)}\n\n" for event in events])))
    outcome = run(PROGRAM + STREAM, connections=at(script, wire))
    assert " Assistant openai" in outcome.out, (outcome.out, outcome.err)
    assert why in outcome.out
    assert "whole\n" not in outcome.out
    assert script.all_closed()


def test_an_event_without_data(script: Script, run: Run) -> None:
    script.answer(Answer('event: message_start\x0bdata: {}\n\nevent: ping\ndata: {"type": "ping"}\n\n'))
    outcome = run(PROGRAM + STREAM, connections=at(script, "anthropic"))
    assert "InvalidReply" in outcome.out and "has no data" in outcome.out, (outcome.out, outcome.err)


@on_every_wire
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (("1", "Notes__length", '{"text": "a"}'), "there is no tool `Notes__length`"),
        (("1", "Notes__size", '{"text": 5}'), "`text`: expected a string, found 5"),
        (("1", "Notes__size", "{}"), "`text`: required, but missing"),
        (("1", "Notes__size", '{"text": "a", "more": 1}'), "`more`: no such parameter"),
        (("1", "Notes__size", "[1, 2]"), "the arguments must be a JSON object"),
    ],
    ids=["unknown", "type", "missing", "extra", "array"],
)
def test_bad_calls_are_told_to_the_model(script: Script, run: Run, wire: str, call: Call, told: str) -> None:
    reply = REPLIES[wire]
    script.answer(reply("", call), reply("sorry"))
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    first, second = outcome.lines
    assert (first, second.split()[0]) == ("sorry", "false"), outcome.err
    assert told in second
    assert told[:20] in json.dumps(script.seen[1].body)


@pytest.mark.parametrize("wire", ["openai", "openai-responses"])
@pytest.mark.parametrize("arguments", ['{"text": ', "text", '{"text": "a"}}', '"{"', "\x00", "[" * 100_000])
def test_arguments_that_are_no_json(script: Script, run: Run, wire: str, arguments: str) -> None:
    """On the wires where arguments are a text that the model wrote."""
    reply = REPLIES[wire]
    script.answer(reply("", ("1", "Notes__size", arguments)), reply("sorry"))
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    assert outcome.lines[0] == "sorry", outcome.err
    assert "the arguments are not JSON" in outcome.lines[1]
    # Some servers refuse a conversation with arguments that they cannot read.
    assert isinstance(json.loads(_called(script.seen[1].body)), dict)


def _called(body: Json) -> str:
    """The arguments of the call in a request."""
    if "input" in body:
        return next(str(each["arguments"]) for each in body["input"] if each.get("type") == "function_call")
    [asked] = [each for each in body["messages"] if "tool_calls" in each]
    return str(asked["tool_calls"][0]["function"]["arguments"])


@on_every_wire
@pytest.mark.parametrize("ids", [("same", "same"), ("", "")])
def test_repeated_and_missing_ids(script: Script, run: Run, wire: str, ids: tuple[str, str]) -> None:
    reply = REPLIES[wire]
    calls = [(ids[0], "Notes__size", '{"text": "a"}'), (ids[1], "Notes__size", '{"text": "bb"}')]
    script.answer(reply("", *calls), reply("both"))
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    assert outcome.lines == ["both", "true 1", "true 2"], outcome.err


@on_every_wire
def test_five_hundred_calls(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    calls = [(f"id{n}", "Notes__size", json.dumps({"text": "x" * n})) for n in range(500)]
    script.answer(reply("", *calls), reply("all"))
    outcome = run(PROGRAM + ASK, connections=at(script, wire))
    assert outcome.lines == ["all", *[f"true {n}" for n in range(500)]], outcome.err


@on_every_wire
def test_an_argument_of_five_megabytes(script: Script, run: Run, wire: str) -> None:
    reply = REPLIES[wire]
    big = json.dumps({"text": "x" * 5_000_000})
    script.answer(reply("", ("1", "Notes__size", big)), reply("long"))
    assert run(PROGRAM + ASK, connections=at(script, wire)).lines == ["long", "true 5000000"]


def test_a_stream_that_says_it_failed_is_no_answer(script: Script, run: Run) -> None:
    """Some gateways end it as if it were one."""
    failed = {"error": {"message": "overloaded"}, "choices": [{"delta": {}, "finish_reason": "error"}]}
    begun = {"choices": [{"delta": {"content": "He"}}]}
    body = "".join([f"data: {json.dumps(event)}\n\n" for event in (begun, failed)])
    script.answer(Answer(body + "data: [DONE]\n\n"))
    outcome = run(PROGRAM + STREAM, connections=at(script, "openai"))
    assert outcome.out.startswith("He StreamBroken"), outcome.out
    assert "overloaded" in outcome.out

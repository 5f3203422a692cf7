"""`/agents/NAME/agui`, whose events are read by the models of the protocol's own package."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from ag_ui.core import Event
from pydantic import TypeAdapter

from tests.serving.servers import Served

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
WEATHER = {
    "name": "get_weather",
    "description": "The weather",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
}


def run(server: Served, agent: str, messages: list[Any], tools: list[Any] | None = None) -> list[Any]:
    body = {"threadId": "t", "runId": "r", "state": {}, "messages": messages, "tools": tools or []}
    body |= {"context": [], "forwardedProps": {}}
    answer = httpx2.post(f"{server.url}/agents/{agent}/agui", json=body)
    assert answer.status_code == 200, answer.text
    pieces = answer.text.strip().split("\n\n")
    events = [json.loads(piece.removeprefix("data: ")) for piece in pieces]
    for event in events:
        EVENT.validate_python(event)
    return events


def kinds(events: list[Any]) -> list[str]:
    return [event["type"] for event in events]


def user(text: str) -> dict[str, str]:
    return {"id": "1", "role": "user", "content": text}


def test_an_answer(server: Served) -> None:
    events = run(server, "Plain", [user("say a b")])
    assert kinds(events) == [
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
    ]
    assert "".join([event.get("delta", "") for event in events]) == "a b"


def test_calls_of_the_programs_tools_are_seen(server: Served) -> None:
    events = run(server, "Helper", [user('call Sums__add {"a": 1, "b": 2}')])
    assert kinds(events)[1:6] == [
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "TEXT_MESSAGE_START",
    ]
    assert events[4]["content"] == "3"


def test_calls_of_the_clients_tools_wait_for_it(server: Served) -> None:
    asked = user('call get_weather {"place": "Rome"}; Sums__add {"a": 1, "b": 2}')
    events = run(server, "Helper", [asked], [WEATHER])
    assert kinds(events)[-2:] == ["TOOL_CALL_RESULT", "RUN_FINISHED"]
    calls = [
        {"id": each["toolCallId"], "function": {"name": each["toolCallName"], "arguments": "{}"}}
        for each in events
        if each["type"] == "TOOL_CALL_START"
    ]
    told = [
        asked,
        {"id": "2", "role": "assistant", "toolCalls": calls},
        {"id": "3", "role": "tool", "toolCallId": calls[1]["id"], "content": "3"},
        {"id": "4", "role": "tool", "toolCallId": calls[0]["id"], "content": "sunny"},
    ]
    after = run(server, "Helper", told, [WEATHER])
    assert "".join([event.get("delta", "") for event in after]) == "given 3, sunny"


def test_failures(server: Served) -> None:
    events = run(server, "Plain", [user("fail")])
    assert kinds(events) == ["RUN_STARTED", "RUN_ERROR"]
    assert (events[1]["code"], "secret-of" in events[1]["message"]) == ("ProviderError", False)
    body: Any = {"threadId": "t", "runId": "r", "messages": []}
    assert httpx2.post(f"{server.url}/agents/Nobody/agui", json=body).status_code == 404
    assert httpx2.post(f"{server.url}/agents/Plain/agui", json={"messages": 1}).status_code == 400
    wrongs: list[Any] = [{"role": {}}, {"role": "assistant", "toolCalls": 1}]
    for spoken in wrongs:
        wrong = httpx2.post(f"{server.url}/agents/Plain/agui", json={**body, "messages": [spoken]})
        assert wrong.status_code < 500

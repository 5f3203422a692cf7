"""`/v1/chat/completions`, asked by the client of OpenAI."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel

from tests.runtime.servers import Script

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}


def asked(*messages: tuple[str, str]) -> Any:
    return [{"role": role, "content": content} for role, content in messages]


def test_an_answer(client: OpenAI) -> None:
    messages = asked(("system", "Short."), ("user", "one"), ("assistant", "two"), ("user", "three"))
    answer = client.chat.completions.create(model="Helper", messages=messages, seed=1)
    (choice,) = answer.choices
    assert choice.finish_reason == "stop"
    told = "system: Be kind. | system: Short. | user: one | assistant: two | user: three"
    assert choice.message.content == told
    assert answer.usage is not None
    assert answer.usage.total_tokens == 15


def test_a_stream(client: OpenAI) -> None:
    stream = client.chat.completions.create(
        model="Plain",
        messages=asked(("user", "say a b")),
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    assert [each.choices[0].delta.content for each in chunks[:-1]] == ["", "a ", "b", None]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert len({each.id for each in chunks}) == 1


def test_tools_of_both(client: OpenAI) -> None:
    messages = asked(("user", 'call get_weather {"place": "Rome"}'))
    first = client.chat.completions.create(model="Helper", messages=messages, tools=[WEATHER])
    (choice,) = first.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert json.loads(call.function.arguments) == {"place": "Rome"}
    result: Any = {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
    said: Any = choice.message
    second = client.chat.completions.create(
        model="Helper", messages=[*messages, said, result], tools=[WEATHER]
    )
    assert second.choices[0].message.content == "given sunny"
    own = asked(("user", 'call Sums__add {"a": 1, "b": 2}'))
    third = client.chat.completions.create(model="Helper", messages=own)
    assert third.choices[0].message.content == "given 3"
    streamed = client.chat.completions.create(model="Plain", messages=messages, tools=[WEATHER], stream=True)
    deltas = [each.choices[0].delta for each in streamed]
    (found,) = [call for delta in deltas for call in delta.tool_calls or ()]
    assert found.function is not None
    assert found.function.name == "get_weather"


class Colour(BaseModel):
    word: str


def test_structured_output(client: OpenAI) -> None:
    messages = asked(("user", "green please"))
    parsed = client.chat.completions.parse(model="Plain", messages=messages, response_format=Colour)
    assert parsed.choices[0].message.parsed == Colour(word="green")


def test_images_reach_the_model(client: OpenAI, model: Script) -> None:
    url = "data:image/png;base64,aGVsbG8="
    content: Any = [{"type": "text", "text": "say seen"}, {"type": "image_url", "image_url": {"url": url}}]
    client.chat.completions.create(model="Plain", messages=[{"role": "user", "content": content}])
    sent = model.seen[-1].body["messages"][-1]["content"]
    assert sent[1] == {"type": "image_url", "image_url": {"url": url}}


def test_failures(client: OpenAI) -> None:
    with pytest.raises(openai.InternalServerError) as failed:
        client.chat.completions.create(model="Plain", messages=asked(("user", "fail")))
    assert "ProviderError" in str(failed.value)
    assert "secret-of-the-server" not in str(failed.value)
    with pytest.raises(openai.APIError, match="ProviderError"):
        list(client.chat.completions.create(model="Plain", messages=asked(("user", "fail")), stream=True))
    with pytest.raises(openai.NotFoundError, match="no agent `x`"):
        client.chat.completions.create(model="x", messages=asked(("user", "a")))
    broken: Any = {"name": "a", "schema": {"$ref": "#/$defs/A"}}
    with pytest.raises(openai.BadRequestError, match=r"`response_format.json_schema.schema.\$ref` leads to"):
        client.chat.completions.create(
            model="Plain",
            messages=asked(("user", "x")),
            response_format={"type": "json_schema", "json_schema": broken},
        )
    with pytest.raises(openai.BadRequestError, match="`n` cannot be set"):
        client.chat.completions.create(model="Plain", messages=asked(("user", "a")), n=2)
    with pytest.raises(openai.BadRequestError, match="belongs to no call"):
        client.chat.completions.create(
            model="Plain", messages=[{"role": "tool", "tool_call_id": "c", "content": ""}]
        )
    for odd in ({"role": "user", "content": [{"type": []}]}, {"role": "assistant", "tool_calls": 1}):
        wrong: Any = [odd]
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(model="Plain", messages=wrong)

"""Answers without a network: `--mock`, the provider `mock`, and the scripts of tests."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from concerto.effects.kinds import ModelCall
from concerto.runtime.providers import StreamPart
from concerto.runtime.requests import Message, Reply, Request

Json: TypeAlias = Any


async def mocked(effect: ModelCall) -> Reply:
    """The mock answer to a model call, in one piece even if it is streamed."""
    reply = mock_reply(effect.request)
    if effect.sink is not None:
        await effect.sink(StreamPart(reply.message.text))
    return reply


def mock_reply(request: Request) -> Reply:
    """`[mock response to: PROMPT]`, or the smallest value that fits the request's schema."""
    if request.schema is not None:
        text = json.dumps(smallest(request.schema.schema, request.schema.schema.get("$defs", {})))
    else:
        text = f"[mock response to: {prompt_of(request)}]"
    return Reply(Message("assistant", text), "stop", request.model, cost_usd=0.0)


def prompt_of(request: Request) -> str:
    """The last thing a person said."""
    return next((message.text for message in reversed(request.messages) if message.role == "user"), "")


def smallest(schema: Json, defs: Json) -> Json:
    """The smallest value that fits a JSON Schema, optional members left out."""
    if "$ref" in schema:
        schema = defs.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("anyOf"):
        return smallest(schema["anyOf"][-1], defs)
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            properties = schema.get("properties", {})
            return {name: smallest(properties.get(name, {}), defs) for name in schema.get("required", ())}
        case "array":
            least = schema.get("minItems", 0)
            return [smallest(schema.get("items", {}), defs)] * least
        case "string":
            return ""
        case "integer":
            return int(schema.get("minimum", 0))
        case "number":
            return float(schema.get("minimum", 0.0))
        case "boolean":
            return False
        case _:
            return None

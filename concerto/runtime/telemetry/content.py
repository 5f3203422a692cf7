"""Message content as the GenAI conventions write it: JSON of roles and parts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from concerto.effects.conventions import Attributes, Key, Spanned
from concerto.effects.kinds import HostCall, McpCall, ModelCall, ToolCall
from concerto.json_data import Json
from concerto.runtime.llm.requests import Message, Reply, Request
from concerto.vm.json_values import to_json
from concerto.vm.values import Ok, Raised, Value


def request_content(effect: Spanned) -> Attributes:
    """What is given to a model or a tool."""
    match effect:
        case ModelCall(request=Request() as request):
            system = [_text(each.text) for each in request.messages if each.role == "system"]
            offers = [
                {
                    "type": "function",
                    "name": each.name,
                    "description": each.description,
                    "parameters": each.parameters,
                }
                for each in request.tools
            ]
            messages = [_message(each) for each in request.messages if each.role != "system"]
            found = {Key.INPUT_MESSAGES: messages, Key.SYSTEM_INSTRUCTIONS: system}
            found[Key.TOOL_DEFINITIONS] = offers
            return {key: _written(value) for key, value in found.items() if value}
        case ToolCall() | HostCall():
            given = effect.arguments
            only = given[0] if isinstance(given, Sequence) and len(given) == 1 else given
            return {Key.TOOL_ARGUMENTS: _written(only)}
        case McpCall():
            return {Key.TOOL_ARGUMENTS: _written(dict(effect.arguments))}
        case _:
            return {}


def result_content(effect: Spanned, value: Value) -> Attributes:
    """What a model or a tool gave."""
    match effect:
        case ModelCall() if isinstance(value, Reply):
            answer = {**_message(value.message), "finish_reason": value.stop_reason}
            return {Key.OUTPUT_MESSAGES: _written([answer])}
        case ToolCall() | HostCall() | McpCall():
            try:
                given = to_json(value.value if isinstance(value, Ok) else value)
            except Raised:
                given = "(no JSON)"
            return {Key.TOOL_RESULT: _written(given)}
        case _:
            return {}


def _message(message: Message) -> dict[str, Json]:
    if message.role == "tool":
        part = {"type": "tool_call_response", "id": message.call_id, "response": message.text}
        return {"role": "tool", "parts": [part]}
    parts: list[Json] = [_text(message.text)] if message.text else []
    parts += [{"type": "uri", "modality": each.kind, "uri": each.url} for each in message.media]
    for call in message.calls:
        parts.append(
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _read(call.arguments)}
        )
    return {"role": message.role, "parts": parts}


def _text(text: str) -> Json:
    return {"type": "text", "content": text}


def _read(arguments: str) -> Json:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _written(data: Json) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "(no JSON)"

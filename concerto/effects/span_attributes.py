"""What a trace says of an effect: what was asked, what came of it, and why it failed.

Names and numbers, and what tools are given; never prompts, answers, contents of files or headers.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from concerto.effects.conventions import operation_attributes, result_attributes
from concerto.effects.kinds import (
    AgentRun,
    AnyEffect,
    EmitAwait,
    Env,
    HostCall,
    Http,
    McpCall,
    ModelCall,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
    subject_of,
)
from concerto.json_data import Json
from concerto.vm.failures import language_error
from concerto.vm.trace import place_of, source_trace
from concerto.vm.values import ErrorValue, Value

Facts: TypeAlias = dict[str, Json]


def request_facts(effect: AnyEffect) -> Facts:
    """Kind and name of an effect, and what is asked."""
    facts: Facts = {"kind": type(effect).__name__, "name": subject_of(effect)}
    match effect:
        case ModelCall(request=request):
            facts |= {
                "agent": effect.agent,
                "connection": effect.connection,
                "provider": effect.provider,
                "model": request.model,
                "messages": len(request.messages),
                "tools": len(request.tools),
            }
            if request.schema is not None:
                facts["schema"] = request.schema.name
        case ToolCall() | HostCall():
            facts |= {"tool": effect.tool, "method": effect.method, "arguments": _written(effect.arguments)}
            if isinstance(effect, ToolCall):
                facts["origin"] = effect.origin
        case McpCall():
            facts |= {"server": effect.server, "function": effect.function}
            facts["arguments"] = _written(effect.arguments)
        case Http():
            facts |= {"method": effect.method, "url": effect.url}
        case EmitAwait():
            facts |= {"channel": effect.channel, "payload": _written(effect.payload)}
        case Shell():
            facts["command"] = effect.command
        case Env():
            facts["variable"] = effect.name
        case Sleep():
            facts["seconds"] = effect.seconds
        case AgentRun() | StageRun():
            pass
        case _:
            path = getattr(effect, "path", None)
            if path is not None:
                facts["path"] = path
    attributes = operation_attributes(effect)
    return {**facts, "attributes": attributes} if attributes else facts


def outcome_facts(effect: AnyEffect, value: Value) -> Facts:
    """What came of an effect that went well."""
    match effect:
        case ModelCall():
            calls = [{"id": call.id, "name": call.name} for call in value.message.calls]
            facts: Facts = {
                "tokens_in": value.tokens_in,
                "tokens_out": value.tokens_out,
                "usd": value.cost_usd,
                "stop_reason": value.stop_reason,
                "attributes": result_attributes(effect, value),
            }
            return {**facts, "tool_calls": calls} if calls else facts
        case Http():
            return {"status": value["status"]}
        case _:
            return {}


def error_facts(error: BaseException) -> Facts:
    """Type, kind and message of a failure, and its place if it came out of the program's code; a native error
    as that of the language."""
    value = language_error(error)
    place = place_of(source_trace(error))
    if isinstance(value, ErrorValue):
        return {"type": value.type_name, "kind": value.kind, "message": value.message, **place}
    return {"type": type(error).__name__, "kind": "Error", "message": str(error), **place}


def _written(data: Json) -> str:
    try:
        return json.dumps(data, ensure_ascii=False)
    except (TypeError, ValueError):
        return "(no JSON)"

"""Conversion of messages between a program's values and the runtime's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from concerto.natives.memory import Memory, checked_role
from concerto.natives.part import part_values
from concerto.records import replace
from concerto.runtime.agents.arguments import parsed
from concerto.runtime.agents.contents import content_of
from concerto.runtime.agents.execution import CallRecord
from concerto.runtime.llm.requests import Message, ToolCallRequest
from concerto.vm.json_values import to_json
from concerto.vm.values import Struct, Value, failure, parts_getter

if TYPE_CHECKING:
    from concerto.vm.machine import Machine

_FIELDS = ("role", "content", "tool_calls", "tool_call_id", "pinned", "parts", "failed")
"""Of a Message struct, as `stdlib/agent.conc` declares them."""
_LEAST = frozenset({"role", "content"})
_fields_in = parts_getter(len(_FIELDS))

_INTERRUPTED = '{"error": "the call was interrupted and has no result", "kind": "Interrupted"}'


def from_memory(memory: Memory) -> list[Message]:
    return [Message(checked_role(role), text) for role, text in memory.conversation()]


def from_values(values: Iterable[Value]) -> list[Message]:
    """The messages of `chat`: Message structs, or maps with `role` and `content`. Calls that lack a result
    get one that says so, since no model server takes them without."""
    messages = [_from_value(value) for value in values]
    answered = {message.call_id for message in messages if message.role == "tool"}
    names: dict[str, str] = {}
    repaired: list[Message] = []
    for message in messages:
        name = names.get(message.call_id, "") if message.role == "tool" else ""
        repaired.append(replace(message, name=name) if name else message)
        for call in message.calls:
            names[call.id] = call.name
            if call.id not in answered:
                repaired.append(Message("tool", _INTERRUPTED, call_id=call.id, name=call.name, failed=True))
    return repaired


def to_values(machine: Machine, messages: Sequence[Message]) -> list[Value]:
    """The messages as Message structs."""
    made: Any = machine.classes.struct("Message")
    assert made.field_names == _FIELDS, "stdlib/agent.conc declares other fields"
    return [
        made(
            message.role,
            message.text,
            [call_value(machine, call_record(call)) for call in message.calls],
            message.call_id,
            message.pinned,
            _parts(machine, message) if message.media else [],
            message.failed,
        )
        for message in messages
    ]


def _parts(machine: Machine, message: Message) -> list[Value]:
    media = [
        {"kind": each.kind, "url": each.url, "name": each.name, "after": each.after} for each in message.media
    ]
    return part_values(machine, message.text, media)


def call_value(machine: Machine, record: CallRecord) -> Value:
    """A ToolCall struct."""
    return machine.struct(
        "ToolCall",
        id=record.id,
        name=record.name,
        tool=record.tool,
        method=record.method,
        arguments=record.arguments,
        result=record.result,
        success=record.success,
        latency_ms=record.latency_ms,
        raw_arguments=record.raw_arguments,
    )


def call_record(call: ToolCallRequest) -> CallRecord:
    """A call of which only what the model wrote is known."""
    return CallRecord(call.id, call.name, "", "", parsed(call.arguments), call.arguments)


def _from_value(value: Value) -> Message:
    if isinstance(value, Struct) and value.type_name == "Message":
        role, content, calls, call_id, pinned, parts, failed = _fields_in(value)
        if not (calls or parts):
            return Message(checked_role(role), content, call_id=call_id, failed=failed, pinned=pinned)
    if type(value) is dict and value.keys() == _LEAST and type(value["content"]) is str:
        return Message(checked_role(value["role"]), value["content"])
    return _from_json(to_json(value))


def _from_json(value: Any) -> Message:
    if not isinstance(value, dict) or "role" not in value:
        raise failure("a message needs a `role` and a `content`", "TypeError")
    calls = tuple(
        ToolCallRequest(str(call.get("id", "")), str(call.get("name", "")), _written(call))
        for call in value.get("tool_calls") or ()
    )
    content = value.get("content", value.get("text", ""))
    call_id, pinned = str(value.get("tool_call_id") or ""), value.get("pinned") is True
    failed = value.get("failed") is True
    parts = value.get("parts") or content
    if isinstance(parts, list) and parts and all(isinstance(each, dict) and "kind" in each for each in parts):
        text, media = content_of(parts)
    else:
        text, media = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), ()
    role = checked_role(value["role"])
    return Message(role, text, calls, call_id, failed=failed, media=media, pinned=pinned)


def _written(call: dict[str, Any]) -> str:
    """The arguments of a call, as the model wrote them unless they were changed since."""
    arguments, raw = call.get("arguments", {}), call.get("raw_arguments")
    if raw and isinstance(raw, str) and json.dumps(parsed(raw)) == json.dumps(arguments):
        return raw
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

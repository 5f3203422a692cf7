"""Agent handles: agents as values of a program, and the builder that shapes one execution.

Both are frozen: each `with_…` gives a new builder, so their order does not matter and nothing is shared.
An agent itself stands wherever a builder is expected.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from concerto.effects.kinds import LoadSession, SaveSession
from concerto.natives.json_text import loads
from concerto.natives.part import part_values
from concerto.records import record, replace
from concerto.vm.native import native
from concerto.vm.operations import type_name
from concerto.vm.values import NONE, Handle, Some, Value, failure
from concerto.vocabulary.fields import OPTIONS
from concerto.vocabulary.values import accepts

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@record(frozen=True, eq=False)
class ToolRef(Handle):
    """A mention of a tool: the whole (`method` empty) or one method. `kind`: tool, mcp."""

    type_name: ClassVar[str] = "ToolRef"
    kind: str
    name: str
    method: str = ""

    def to_text(self) -> str:
        return f"{self.name}::{self.method}" if self.method else self.name


@record(frozen=True, eq=False)
class AgentBuilder(Handle):
    """An agent and what differs from its declaration in the executions made from here. A field of None, False
    or () changes nothing."""

    type_name: ClassVar[str] = "AgentBuilder"
    agent: str
    tools: tuple[Value, ...] = ()
    no_static_tools: bool = False
    allowed_tools: tuple[Value, ...] | None = None
    tool_choice: Value = None
    memory: Any = None
    memory_auto: bool = True
    context: Any = None
    data: Any = None
    max_iterations: int | None = None
    discovery: bool = False
    most_tokens: int | None = None
    most_usd: float | None = None
    most_seconds: float | None = None
    system_prompt: str | None = None
    options: dict[str, Value] | None = None
    session: str | None = None

    def to_text(self) -> str:
        return self.agent


@record(frozen=True, eq=False)
class AgentRef(Handle):
    """A declared agent."""

    type_name: ClassVar[str] = "AgentRef"
    name: str

    def to_text(self) -> str:
        return self.name


Receiver: TypeAlias = AgentRef | AgentBuilder


def builder_of(receiver: Receiver) -> AgentBuilder:
    """The builder itself, or an agent's builder that changes nothing."""
    return AgentBuilder(receiver.name) if isinstance(receiver, AgentRef) else receiver


@native("AgentBuilder::with_tools")
def with_tools(receiver: Receiver, tools: Value) -> AgentBuilder:
    builder = builder_of(receiver)
    return replace(builder, tools=(*builder.tools, *_array("with_tools", tools)))


@native("AgentBuilder::without_tools")
def without_tools(receiver: Receiver) -> AgentBuilder:
    return replace(builder_of(receiver), no_static_tools=True)


@native("AgentBuilder::with_allowed_tools")
def with_allowed_tools(receiver: Receiver, tools: Value) -> AgentBuilder:
    return replace(builder_of(receiver), allowed_tools=tuple(_array("with_allowed_tools", tools)))


def _array(method: str, tools: Value) -> list[Value]:
    """An array of tools, which may have been an Any."""
    if not isinstance(tools, list):
        raise failure(f"`{method}` takes an array of tools, found `{type_name(tools)}`", "TypeError")
    return tools


@native("AgentBuilder::with_tool_choice")
def with_tool_choice(receiver: Receiver, choice: Value) -> AgentBuilder:
    if isinstance(choice, ToolRef):
        if not choice.method:
            raise failure(
                f"`tool_choice` needs one method of `{choice.name}`, not the whole tool", "TypeError"
            )
    elif choice not in ("auto", "required", "none"):
        raise failure('`tool_choice` is "auto", "required", "none" or a tool method', "TypeError")
    return replace(builder_of(receiver), tool_choice=choice)


@native("AgentBuilder::with_memory")
def with_memory(receiver: Receiver, memory: Value, auto: bool = True) -> AgentBuilder:
    return replace(builder_of(receiver), memory=memory, memory_auto=auto)


@native("AgentBuilder::session")
def session(receiver: Receiver, id_: str) -> AgentBuilder:
    if not id_:
        raise failure("a session has an id that is not empty", "ValueError")
    return replace(builder_of(receiver), session=id_)


@native("AgentBuilder::messages", machine=True)
def messages(machine: Machine, receiver: Receiver) -> list[Value]:
    return [
        machine.struct(
            "Message",
            role=each["role"],
            content=each.get("text", ""),
            tool_calls=[_call(machine, call) for call in each.get("calls", ())],
            tool_call_id=each.get("call_id", ""),
            pinned=each.get("pinned", False),
            failed=each.get("failed", False),
            parts=part_values(machine, each.get("text", ""), each.get("media", ())),
        )
        for _, turn in _turns(machine, receiver)
        for each in json.loads(turn)["messages"]
    ]


@native("AgentBuilder::reset", machine=True)
def reset(machine: Machine, receiver: Receiver) -> None:
    builder, replaced = _with_session(receiver), False
    while not replaced:  # Somebody else may add to it meanwhile.
        numbers = tuple([number for number, _ in _turns(machine, builder)])
        replaced = machine.host.perform(SaveSession(builder.agent, builder.session or "", None, numbers))


@native("AgentBuilder::branch", machine=True)
def branch(machine: Machine, receiver: Receiver, id_: str) -> AgentBuilder:
    other = session(_with_session(receiver), id_)
    turns = [json.loads(turn) for _, turn in _turns(machine, receiver)]
    whole = {
        "messages": [each for turn in turns for each in turn["messages"]],
        "origins": list(dict.fromkeys([origin for turn in turns for origin in turn["origins"]])),
    }
    turn = json.dumps(whole, ensure_ascii=False)
    if not machine.host.perform(SaveSession(other.agent, id_, turn, ())):
        raise failure(f"there is a session `{id_}` of `{other.agent}` already", "ValueError")
    return other


def _turns(machine: Machine, receiver: Receiver) -> list[list[Any]]:
    builder = _with_session(receiver)
    turns: list[list[Any]] = machine.host.perform(LoadSession(builder.agent, builder.session or ""))
    return turns


def _with_session(receiver: Receiver) -> AgentBuilder:
    builder = builder_of(receiver)
    if builder.session is None:
        message = f"`{builder.agent}` has a conversation only as `{builder.agent}.session(id)`"
        raise failure(message, "ValueError")
    return builder


def _call(machine: Machine, call: dict[str, Any]) -> Value:
    """A ToolCall of which only what the model wrote is known."""
    try:
        arguments: Value = loads(call["arguments"]) if call.get("arguments") else {}
    except ValueError:
        arguments = call["arguments"]
    known = {"id": call["id"], "name": call["name"], "arguments": arguments}
    known["raw_arguments"] = call.get("arguments", "")
    return machine.struct("ToolCall", **known, tool="", method="", result=None, success=False, latency_ms=0)


@native("AgentBuilder::with_context")
def with_context(receiver: Receiver, context: Value) -> AgentBuilder:
    return replace(builder_of(receiver), context=context)


@native("AgentBuilder::with_data")
def with_data(receiver: Receiver, data: Value) -> AgentBuilder:
    return replace(builder_of(receiver), data=data)


@native("AgentBuilder::with_max_iterations")
def with_max_iterations(receiver: Receiver, count: int) -> AgentBuilder:
    if count < 1:
        raise failure(f"`max_iterations` is at least 1, not {count}", "ValueError")
    return replace(builder_of(receiver), max_iterations=count)


@native("AgentBuilder::with_tool_discovery")
def with_tool_discovery(receiver: Receiver) -> AgentBuilder:
    return replace(builder_of(receiver), discovery=True)


@native("AgentBuilder::with_system")
def with_system(receiver: Receiver, prompt: str) -> AgentBuilder:
    return replace(builder_of(receiver), system_prompt=prompt)


@native("AgentBuilder::with_options")
def with_options(receiver: Receiver, options: dict[str, Value]) -> AgentBuilder:
    builder = builder_of(receiver)
    for name, value in options.items():
        row = OPTIONS.get(name)
        if row is None:
            raise failure(f"`with_options` has no `{name}`; it takes {', '.join(OPTIONS)}", "ValueError")
        if not accepts(row, value):
            raise failure(f"`{name}` is {row.expects}", "ValueError")
    return replace(builder, options={**(builder.options or {}), **options})


@native("AgentBuilder::with_model")
def with_model(receiver: Receiver, model: str) -> AgentBuilder:
    return with_options(receiver, {"model": model})


@native("AgentBuilder::with_temperature")
def with_temperature(receiver: Receiver, temperature: float) -> AgentBuilder:
    return with_options(receiver, {"temperature": temperature})


@native("AgentBuilder::with_budget")
def with_budget(
    receiver: Receiver, tokens: Value = NONE, usd: Value = NONE, seconds: Value = NONE
) -> AgentBuilder:
    builder = builder_of(receiver)
    return replace(
        builder,
        most_tokens=_given(tokens, int, builder.most_tokens),
        most_usd=_given(usd, float, builder.most_usd),
        most_seconds=_given(seconds, float, builder.most_seconds),
    )


@native("AgentBuilder::calls", machine=True)
def calls(machine: Machine, receiver: Receiver) -> list[Value]:
    return machine.host.mocked_requests(builder_of(receiver).agent)


def _given(option: Value, convert: Callable[[Any], Any], before: Any) -> Any:
    return convert(option.value) if isinstance(option, Some) else before

"""Agent handles: agents as values of a program, and the builder that shapes one execution.

Both are frozen: each `with_…` gives a new builder, so their order does not matter and nothing is shared.
An agent itself stands wherever a builder is expected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from concerto.records import record, replace
from concerto.vm.native import native
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
def with_tools(receiver: Receiver, tools: list[Value]) -> AgentBuilder:
    builder = builder_of(receiver)
    return replace(builder, tools=(*builder.tools, *tools))


@native("AgentBuilder::without_tools")
def without_tools(receiver: Receiver) -> AgentBuilder:
    return replace(builder_of(receiver), no_static_tools=True)


@native("AgentBuilder::with_allowed_tools")
def with_allowed_tools(receiver: Receiver, tools: list[Value]) -> AgentBuilder:
    return replace(builder_of(receiver), allowed_tools=tuple(tools))


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


@native("AgentBuilder::with_model")
def with_model(receiver: Receiver, model: str) -> AgentBuilder:
    return with_options(receiver, {"model": model})


@native("AgentBuilder::with_temperature")
def with_temperature(receiver: Receiver, temperature: float) -> AgentBuilder:
    return with_options(receiver, {"temperature": temperature})


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

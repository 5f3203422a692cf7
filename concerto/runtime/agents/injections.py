"""Injected tools: methods of values that a tool returned, offered for the rest of an execution.

Every strategy is asked after every tool call. The built-in one finds `@tool_provider` values in a result,
at any depth, and binds their methods to them; hosts add their own in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from concerto.effects.error_kinds import AgentKind
from concerto.effects.kinds import ToolCall
from concerto.effects.policy import policy_from
from concerto.ir.module import MethodDef, ToolProvider
from concerto.json_data import Json
from concerto.records import field, record
from concerto.runtime.agents.execution import Execution
from concerto.runtime.concurrency.fibers import drive
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message, ToolCallRequest, ToolOffer
from concerto.runtime.run.agent_failures import agent_failure, ends_run, text_of
from concerto.runtime.tools.declared_tools import fill_parameters, unwrapped
from concerto.runtime.tools.toolbox import BoundTool, CallContext, wire_name
from concerto.vm.operations import to_text
from concerto.vm.values import NONE, Err, Ok, Some, Struct, Value, Variant, parts_of

if TYPE_CHECKING:
    from concerto.runtime.agents.sources import ToolSources


_MOST_INJECTED = 64


@record(frozen=True)
class LastCall:
    """The call that a strategy looks at: its result as JSON and as the program's value."""

    tool: str
    arguments: str
    result: Json
    value: Value


@record(frozen=True)
class InjectionContext:
    """What a strategy sees: the conversation so far, the names of the tools offered in it, the call that has
    just ended, and the number of the model request that asked for it."""

    history: tuple[Message, ...]
    tools: tuple[str, ...]
    last_call: LastCall
    iteration: int


class ToolInjectionStrategy(Protocol):
    """Decides after a tool call which further tools the model gets."""

    def evaluate(self, context: InjectionContext) -> list[Any]:
        """Tools made by `concerto.tool`, or none."""


@record
class Entity:
    """A returned value whose methods are tools; the same entity returned again replaces the value."""

    provider: ToolProvider
    value: Value
    names: list[str] = field(default_factory=list)


class Injections:
    """The strategies of a run."""

    def __init__(self, run: ToolSources, strategies: Sequence[ToolInjectionStrategy]) -> None:
        self._run = run
        types = run.module.types
        self._providers = {types[provider.type].name: provider for provider in run.module.providers}
        self.strategies = tuple(strategies)

    def consider(self, work: Execution, call: ToolCallRequest, value: Value, result: Json) -> Json:
        """Ask the strategies about a call that went well; the result, with the names of what became
        available."""
        if work.plan.discovery and self._providers:
            result = self._discover(work, value, result)
        if self.strategies:
            self._call_strategies(work, call, value, result)
        return result

    def _discover(self, work: Execution, value: Value, result: Json) -> Json:
        added: dict[int, list[str]] = {}
        left_out: list[str] = []
        tools: list[BoundTool] = []
        for instance in _structs(value, self._providers):
            provider = self._providers[instance.type_name]
            identity = _identity(instance, provider)
            entity = work.entities.get((provider.type, identity))
            if entity is not None:
                entity.value = instance
                continue
            entity = work.entities[provider.type, identity] = Entity(provider, instance)
            for tool in self._bind(work, entity, identity, {tool.offer.name for tool in tools}):
                if len(work.injected) >= self._most():
                    left_out.append(tool.offer.name)
                    continue
                tools.append(tool)
                entity.names.append(tool.offer.name)
                work.injected.append(tool.offer.name)
            added[id(instance)] = entity.names
        self._offer(work, tools, left_out)
        return _annotated(value, result, added) if tools else result

    def _call_strategies(self, work: Execution, call: ToolCallRequest, value: Value, result: Json) -> None:
        context = InjectionContext(
            tuple(work.messages),
            tuple(work.toolbox.tools),
            LastCall(call.name, call.arguments, result, value),
            work.iteration,
        )
        tools: list[BoundTool] = []
        for strategy in self.strategies:
            for given in _evaluated(strategy, context):
                for tool in self._run.python_tools.adopt(given):
                    if tool.offer.name not in work.toolbox.tools:
                        tools.append(tool)
                        work.injected.append(tool.offer.name)
        self._offer(work, tools, [])

    def _offer(self, work: Execution, tools: list[BoundTool], left_out: list[str]) -> None:
        if tools:
            work.toolbox = work.toolbox.with_tools(tools)
        if tools or left_out:
            names = [tool.offer.name for tool in tools]
            told = {"agent": work.plan.agent, "tools": names, "left_out": left_out}
            self._run.emit_event(Channel.AGENT_TOOLS_INJECTED, lambda: told)
            self._run.note("tools_injected", lambda: told, work.branch)

    def _bind(self, work: Execution, entity: Entity, identity: str, taken: set[str]) -> Iterator[BoundTool]:
        provider, spelt = entity.provider, re.sub(r"[^A-Za-z0-9_-]", "_", identity)
        owner = self._run.module.types[provider.type].name
        for method, schema in zip(provider.methods, provider.tool_schemas, strict=True):
            if not self._run.permissions.allows(owner, method.name):
                continue
            told = schema["method_name"].rpartition("::")[2]
            name = wire_name(f"{provider.prefix}_{spelt}_{told}")
            number = 2
            while name in work.toolbox.tools or name in taken:
                name = wire_name(f"{provider.prefix}_{spelt}_{told}_{number}")
                number += 1
            taken.add(name)
            offer = ToolOffer(name, schema["description"], schema["parameters"])
            call = partial(self._call, entity, owner, method)
            entity_name = f"{provider.type} {identity}"
            yield BoundTool(offer, owner, method.name, call, entity=entity_name, declared=method)

    async def _call(
        self, entity: Entity, owner: str, method: MethodDef, caller: CallContext, given: dict[str, Json]
    ) -> Value:
        fill = partial(fill_parameters, self._run.machine, owner, method, caller, given)
        values = await drive(caller.branch, fill)

        def execute() -> Value:
            assert method.function is not None
            result = self._run.machine.call(method.function, [entity.value, *values])
            if self._run.module.functions[method.function].inout:
                result, entity.value = result
            return unwrapped(result, owner, method.name)

        async def body() -> Value:
            return await drive(caller.branch, execute)

        policy = policy_from(method.decorators)
        caller.branch.meters += policy.meters(f"{owner}::{method.name}")
        effect = ToolCall(owner, method.name, (given,), body, "model", policy, call_id=caller.call_id)
        return await self._run.pass_gate(effect, caller.branch)

    def _most(self) -> int:
        most = self._run.options.max_injected_tools
        return _MOST_INJECTED if most is None else most


def _evaluated(strategy: ToolInjectionStrategy, context: InjectionContext) -> list[Any]:
    try:
        return strategy.evaluate(context)
    except BaseException as error:
        if ends_run(error):
            raise
        said = f"the strategy `{type(strategy).__name__}` failed: {text_of(error)}"
        raise agent_failure(said, AgentKind.TOOL_FAILED) from error


def _structs(value: Value, wanted: dict[str, ToolProvider]) -> Iterator[Struct]:
    """The structs of wanted types inside a value, in reading order."""
    todo = [value]
    while todo:
        here = todo.pop()
        match here:
            case Struct():
                if here.type_name in wanted:
                    yield here
                todo.extend(reversed(parts_of(here)))
            case Variant():
                todo.extend(reversed(parts_of(here)))
            case list() | tuple():
                todo.extend(reversed(here))
            case dict():
                todo.extend(reversed(list(here.values())))
            case Some() | Ok() | Err():
                todo.append(here.value)
            case _:
                pass


def _identity(instance: Struct, provider: ToolProvider) -> str:
    """The entity's id, exactly."""
    value = getattr(instance, f"f{instance.field_names.index(provider.id)}")
    if isinstance(value, Some):
        value = value.value
    if value is None or value is NONE or value == "":
        raise agent_failure(
            f"`{instance.type_name}` cannot provide tools: its `{provider.id}` is empty", AgentKind.BAD_TOOLS
        )
    return to_text(value)


def _annotated(value: Value, result: Json, added: dict[int, list[str]]) -> Json:
    """The JSON of a value, with `_available_operations` in the object of every entity that is new."""
    match value:
        case Struct(positional=True):
            return _annotated_parts(value, result, added)
        case Struct() if isinstance(result, dict):
            inner: Json = _annotated_fields(value, result, added)
            names = added.get(id(value))
            return {**inner, "_available_operations": names} if names else inner
        case Variant(named=True) if isinstance(result, dict):
            return {**result, "data": _annotated_fields(value, result["data"], added)}
        case Variant() if isinstance(result, dict):
            return {**result, "data": _annotated_parts(value, result["data"], added)}
        case list() | tuple() if isinstance(result, list):
            return [_annotated(item, each, added) for item, each in zip(value, result, strict=True)]
        case dict() if isinstance(result, dict):
            pairs = zip(value.values(), result.items(), strict=True)
            return {name: _annotated(item, each, added) for item, (name, each) in pairs}
        case Some():
            return _annotated(value.value, result, added)
        case Ok() | Err() if isinstance(result, dict):
            return {name: _annotated(value.value, each, added) for name, each in result.items()}
        case _:
            return result


def _annotated_fields(value: Struct | Variant, result: Json, added: dict[int, list[str]]) -> Json:
    parts = zip(value.field_names, parts_of(value), strict=True)
    return {name: _annotated(part, result.get(name), added) for name, part in parts}


def _annotated_parts(value: Struct | Variant, result: Json, added: dict[int, list[str]]) -> Json:
    """Fields without names: a single value as it is, several as an array."""
    parts = parts_of(value)
    return _annotated(parts[0], result, added) if len(parts) == 1 else _annotated(parts, result, added)

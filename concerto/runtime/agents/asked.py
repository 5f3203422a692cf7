"""What somebody outside asks an agent in one request: the conversation so far, tools that the asker executes
itself, and settings that hold for this execution alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from concerto.effects.error_kinds import AgentKind
from concerto.json_data import Json
from concerto.natives.json_text import loads
from concerto.records import frozen, replace
from concerto.runtime.agents.execution import Execution, Plan
from concerto.runtime.agents.structured import Misread
from concerto.runtime.llm.requests import Message, OutputSchema, ToolOffer
from concerto.runtime.llm.stored_messages import messages_from_json, messages_json
from concerto.runtime.run.agent_failures import RequiresAction, agent_failure
from concerto.runtime.tools.toolbox import BoundTool, CallContext, Toolbox
from concerto.schema.validate import complaints
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.concurrency.fibers import Branch

CLIENT = "client"
"""The owner of tools that the asker executes."""


@frozen
class Asked:
    """A request to an agent. None, or nothing, leaves a setting as the agent declares it; `instructions`
    stand after its system prompt. `tools` are executed by the asker: an execution ends where they are called.
    `allowed_tools` are names on the wire, `most_calls` of tools the execution may make."""

    agent: str
    messages: tuple[Message, ...]
    instructions: str = ""
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: Literal["auto", "required", "none"] | None = None
    forced_tool: str = ""
    allowed_tools: frozenset[str] | None = None
    parallel_tool_calls: bool | None = None
    most_calls: int | None = None
    schema: OutputSchema | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None

    def prepare(self, work: Execution) -> None:
        """Let an execution that has been planned do as it is asked."""
        tools = work.plan.toolbox
        if self.tools:
            tools = tools.with_tools(map(_handed_out, self.tools))
        work.toolbox = tools
        work.calls_left = self.most_calls
        work.plan = self._planned(work.plan, tools)

    def _planned(self, plan: Plan, tools: Toolbox) -> Plan:
        changed = {
            name: given
            for name in ("tool_choice", "parallel_tool_calls", "temperature", "top_p", "max_tokens", "schema")
            if (given := getattr(self, name)) is not None
        }
        if self.forced_tool or self.tool_choice is not None:
            changed["forced_tool"] = self._known(self.forced_tool, tools, plan.agent)
        plan = replace(plan, request=replace(plan.request, **changed)) if changed else plan
        if self.allowed_tools is not None:
            names = [self._known(name, tools, plan.agent) for name in self.allowed_tools]
            keys = frozenset([tools.tools[name].key for name in names])
            plan = replace(plan, callable=keys if plan.callable is None else keys & plan.callable)
        elif plan.callable is not None:
            own = frozenset([tool.key for tool in tools.tools.values() if tool.tool == CLIENT])
            plan = replace(plan, callable=plan.callable | own)
        return plan

    def _known(self, name: str, tools: Toolbox, agent: str) -> str:
        """The name on the wire of a tool that the asker names."""
        if not name:
            return name
        for wire, tool in tools.tools.items():
            if (tool.method if tool.tool == CLIENT else wire) == name:
                return wire
        raise agent_failure(f"`{agent}` has no tool `{name}`", AgentKind.BAD_TOOLS, agent=agent)


def asked_json(asked: Asked) -> Json:
    written = {name: value for name, value in asdict(asked).items() if value not in (None, (), "")}
    allowed = asked.allowed_tools
    return written | {
        "messages": messages_json(asked.messages),
        "allowed_tools": None if allowed is None else sorted(allowed),
    }


def asked_from_json(written: Mapping[str, Json]) -> Asked:
    allowed, schema = written["allowed_tools"], written.get("schema")
    known = {
        "messages": tuple(messages_from_json(written["messages"])),
        "tools": tuple([ToolOffer(**each) for each in written.get("tools", ())]),
        "allowed_tools": None if allowed is None else frozenset(allowed),
        "schema": None if schema is None else OutputSchema(**schema),
    }
    return Asked(**{**written, **known})


def _handed_out(offer: ToolOffer) -> BoundTool:
    """A tool whose calls go to the asker. No handler of the program's host ever sees them."""

    async def perform(caller: CallContext, arguments: dict[str, Json]) -> Value:
        raise RequiresAction([{"call_id": caller.call_id, "name": offer.name, "arguments": arguments}])

    return BoundTool(offer, CLIENT, offer.name, perform, foreign=True)


class JsonOutput:
    """An answer that has to be JSON of a schema which is no type of the program."""

    def __init__(self, schema: OutputSchema, wrapper: str = "") -> None:
        self.name = schema.name
        self.schema = schema
        self.wrapper = wrapper

    async def read(self, text: str, branch: Branch, whole: bool = True) -> tuple[Value, tuple[str, ...]]:
        """The JSON in a reply; raises Misread with what is wrong."""
        from concerto.natives.lenient import CLOSED, Unreadable, read_leniently

        try:
            return self._fitting(loads(text)), ()
        except ValueError:
            pass
        try:
            reading = read_leniently(text)
        except Unreadable as unreadable:
            raise Misread(str(unreadable)) from None
        if not whole and CLOSED in reading.repairs:
            raise Misread("its end is missing")
        return self._fitting(reading.value), reading.repairs

    def _fitting(self, data: Json) -> Json:
        wrong = complaints(data, self.schema.schema)
        if wrong:
            raise Misread("; ".join(wrong))
        return data

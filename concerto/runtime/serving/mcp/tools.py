"""The tools of a program for clients: its public methods, and each agent as a tool that takes a prompt.

Calls go the way of all calls: checked against the schema, through the gate, with the permissions of the run.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from mcp import types
from mcp.server.context import ServerRequestContext

from concerto.contracts.comparison import wrapped_result
from concerto.effects.policy import Policy, policy_from
from concerto.ir.module import Agent, DecoratorDef, ModuleIR, ToolUse
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.run.agent_failures import RequiresAction, message_of
from concerto.runtime.serving.mcp.arguments import as_a_call
from concerto.runtime.serving.mcp.calls import Calls
from concerto.runtime.serving.mcp.content import block_of, parts_of, returns_parts, text_of
from concerto.runtime.tools.given_arguments import misfits
from concerto.runtime.tools.toolbox import ASKED, BoundTool, CallContext, renamed, toolbox, wire_name
from concerto.schema.writing import as_written
from concerto.vm.json_values import to_json
from concerto.vm.values import Raised, Value
from concerto.vocabulary.decorators import DECORATORS

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run

Context = ServerRequestContext[Any, Any]
TASK = "mcp_task"


class TaskRules:
    """What `@mcp_task` says of a tool."""

    def __init__(self, decorator: DecoratorDef) -> None:
        given = DECORATORS[TASK].defaults | decorator.arguments
        self.required = given["support"] == "required"
        self.ttl_seconds = float(given["ttl_seconds"])


class TaskStarter(Protocol):
    """Where long calls become tasks."""

    async def perform(
        self, context: Context, params: types.CallToolRequestParams, rules: TaskRules
    ) -> types.CallToolResult | types.InputRequiredResult | dict[str, Json] | None:
        """What the client is told of its task, or the result of its call; None for a call that need not be
        kept. An MCPError if there is nothing for it."""


class ServedTools:
    def __init__(self, run: Run, calls: Calls, tasks: TaskStarter | None = None) -> None:
        self._run = run
        self._calls = calls
        self._tasks = tasks
        self._rules = task_rules(run.module) if tasks is not None else {}
        self._tools = toolbox([offered(run)]).tools
        self._annotations = {
            (tool.name, method.name): annotations
            for tool in run.module.tools
            for method in tool.methods
            if (annotations := _annotations(policy_from(method.decorators))) is not None
        }
        self._results = {
            (tool.name, method.name): tool.result_schemas.get(method.name)
            for tool in run.module.tools
            for method in tool.methods
            if not returns_parts(method.result, run.module.types)
        }

    async def list_tools(self, context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[self._listed(tool) for tool in self._tools.values()])

    async def call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | dict[str, Json]:
        tool = self._tools.get(params.name)
        if tool is None:
            return _failed(f"there is no tool `{params.name}`")
        arguments = params.arguments or {}
        found = misfits(self._run.machine, tool, arguments)
        if found:
            return _failed("invalid arguments: " + "; ".join(found))
        rules = self._rules.get((tool.tool, tool.method))
        if self._tasks is not None and rules is not None:
            kept = await self._tasks.perform(context, params, rules)
            if kept is not None:
                return kept
        return await self._calls.perform(context, params, partial(self._call, tool, arguments))

    async def perform(self, name: str, arguments: dict[str, Json], branch: Branch) -> types.CallToolResult:
        """The result of a call whose arguments have been seen to fit."""
        tool = self._tools.get(name)
        if tool is None:
            return _failed(f"there is no tool `{name}` any more")
        return await self._call(tool, arguments, branch)

    def _listed(self, tool: BoundTool) -> types.Tool:
        return types.Tool(
            name=tool.offer.name,
            description=tool.offer.description,
            input_schema=tool.offer.parameters,
            output_schema=_output_schema(self._results.get((tool.tool, tool.method))),
            annotations=self._annotations.get((tool.tool, tool.method)),
        )

    async def _call(
        self, tool: BoundTool, arguments: dict[str, Json], branch: Branch
    ) -> types.CallToolResult:
        try:
            value = await as_a_call(self._run, tool.title, tool.perform(CallContext(branch), arguments))
            return self._answer(tool, value)
        except Raised as raised:
            return _failed(message_of(raised.value))
        except RequiresAction:
            return _failed(f"`{tool.title}` is executed outside, and nobody here does it (see `--handlers`)")

    def _answer(self, tool: BoundTool, value: Value) -> types.CallToolResult:
        parts = parts_of(value)
        if parts is not None:
            return types.CallToolResult(content=[block_of(part) for part in parts])
        schema = self._results.get((tool.tool, tool.method))
        data = as_written(to_json(value), schema, schema)
        content = types.TextContent(text=text_of(data))
        data = {"result": data} if _wraps(schema) else data
        return types.CallToolResult(
            content=[content], structured_content=data if isinstance(data, dict) else None
        )


def task_rules(module: ModuleIR) -> dict[tuple[str, str], TaskRules]:
    """The methods and agents with `@mcp_task`."""
    marked = [
        ((tool.name, method.name), each)
        for tool in module.tools
        for method in tool.methods
        for each in method.decorators
    ]
    marked += [((agent.name, "execute"), each) for agent in module.agents for each in agent.decorators]
    return {key: TaskRules(each) for key, each in marked if each.name == TASK}


def offered(run: Run) -> list[BoundTool]:
    """The permitted tools of a program, then its agents."""
    tools = [
        bound
        for tool in run.module.tools
        if not tool.module.startswith("std::")
        for bound in run.tools.bound(ToolUse("tool", tool.name))
    ]
    agents = [
        _agent_tool(run, agent)
        for agent in run.module.agents
        if run.permissions.allows(agent.name, "execute")
    ]
    return _with_short_names([*tools, *agents])


def _with_short_names(tools: list[BoundTool]) -> list[BoundTool]:
    """The tools under their methods' own names, where no other one has that name and none was given."""

    def short(tool: BoundTool) -> str:
        unnamed = tool.offer.name == wire_name(tool.tool, tool.method)
        return wire_name(tool.method) if unnamed else tool.offer.name

    taken = Counter(map(short, tools))
    return [renamed(tool, short(tool)) if taken[short(tool)] == 1 else tool for tool in tools]


def _agent_tool(run: Run, agent: Agent) -> BoundTool:
    name = wire_name(agent.name)
    description = str(
        agent.settings.get("description") or f"Asks the agent {agent.name} and gives its answer"
    )
    offer = ToolOffer(name, description, ASKED)
    return BoundTool(offer, agent.name, "execute", partial(_ask, run, agent.name))


async def _ask(run: Run, agent: str, caller: CallContext, given: dict[str, Json]) -> Value:
    return await run.ask(agent, given["prompt"], caller.branch)


def _wraps(result: Json) -> bool:
    """Whether a tool answers with `{"result": …}`: what is no object, or could be taken for such a wrap."""
    return result is not None and (result.get("type") != "object" or wrapped_result(result) is not None)


def _annotations(policy: Policy) -> types.ToolAnnotations | None:
    """What the program says of repeating a call."""
    if not policy.repeatable:
        return None
    return types.ToolAnnotations(
        read_only_hint=policy.read_only or None, idempotent_hint=policy.idempotent or None
    )


def _output_schema(result: Json) -> Json:
    """The schema of the object that a tool answers with; None if nothing is known of it."""
    if not _wraps(result):
        return result
    inner = {key: part for key, part in result.items() if key != "$defs"}
    schema = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    return {**schema, "$defs": result["$defs"]} if "$defs" in result else schema


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)

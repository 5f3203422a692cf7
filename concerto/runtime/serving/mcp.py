"""A program as an MCP server: its tools, and each agent as a tool that takes a prompt.

Calls go the way of all calls: checked against the schema, through the gate, with the permissions of the
run. What the program prints goes to standard error, because standard output belongs to the protocol.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from concerto.contracts.comparison import wrapped_result
from concerto.ir.module import Agent, ToolUse
from concerto.json_data import Json
from concerto.runtime.agents.guarding import as_a_run
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.llm.requests import ToolOffer
from concerto.runtime.run.agent_failures import RequiresAction, message_of
from concerto.runtime.tools.toolbox import BoundTool, toolbox, wire_name
from concerto.schema.validate import complaints
from concerto.version import __version__
from concerto.vm.json_values import to_json
from concerto.vm.values import Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run
    from concerto.runtime.tools.toolbox import CallContext


_PROMPT = {
    "type": "object",
    "properties": {"prompt": {"type": "string", "description": "What the agent is asked"}},
    "required": ["prompt"],
}


async def serve_stdio(run: Run, name: str) -> None:
    """Serve one client on standard input and output, until it leaves."""
    server = _server(run, name)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def serve_http(run: Run, name: str, host: str, port: int) -> None:
    """Serve clients over streamable HTTP at `/mcp`, until the run is told to stop."""
    import uvicorn

    app = _server(run, name).streamable_http_app(host=host)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", lifespan="on")
    listening = uvicorn.Server(config)
    serving = asyncio.create_task(listening.serve())
    try:
        while not listening.started and not serving.done():
            await asyncio.sleep(0.01)
        if listening.started:
            bound = listening.servers[0].sockets[0].getsockname()[1]
            sys.stderr.write(f"serving at http://{host}:{bound}/mcp\n")
            sys.stderr.flush()
        await asyncio.shield(serving)
    finally:
        listening.should_exit = listening.force_exit = True
        await asyncio.wait([serving])


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
    return [*tools, *agents]


def _server(run: Run, name: str) -> Server[Any]:
    tools = toolbox([offered(run)]).tools
    schemas = {
        (tool.name, method): schema
        for tool in run.module.tools
        for method, schema in tool.result_schemas.items()
    }
    branch = Branch()

    async def list_tools(context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool, result_schema(tool)) for tool in tools.values()])

    async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _failed(f"there is no tool `{params.name}`")
        return await _call(run, tool, params.arguments or {}, branch.child(), result_schema(tool))

    def result_schema(tool: BoundTool) -> Json:
        return schemas.get((tool.tool, tool.method))

    return Server(name, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


def _agent_tool(run: Run, agent: Agent) -> BoundTool:
    name = wire_name(agent.name)
    offer = ToolOffer(name, f"Asks the agent {agent.name} and gives its answer", _PROMPT)
    return BoundTool(offer, agent.name, "execute", partial(_ask, run, agent.name))


async def _ask(run: Run, agent: str, caller: CallContext, given: dict[str, Json]) -> Value:
    return await run.ask(agent, given["prompt"], caller.branch)


def _wraps(result: Json) -> bool:
    """Whether a tool answers with `{"result": …}`: what is no object, or could be taken for such a wrap."""
    return result is not None and (result.get("type") != "object" or wrapped_result(result) is not None)


def _output_schema(result: Json) -> Json:
    """The schema of the object that a tool answers with; None if nothing is known of it."""
    if not _wraps(result):
        return result
    inner = {key: part for key, part in result.items() if key != "$defs"}
    schema = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    return {**schema, "$defs": result["$defs"]} if "$defs" in result else schema


def _listed(tool: BoundTool, result: Json) -> types.Tool:
    return types.Tool(
        name=tool.offer.name,
        description=tool.offer.description,
        input_schema=tool.offer.parameters,
        output_schema=_output_schema(result),
    )


async def _call(
    run: Run, tool: BoundTool, arguments: dict[str, Json], branch: Branch, result: Json
) -> types.CallToolResult:
    from concerto.runtime.tools.toolbox import CallContext

    found = complaints(arguments, tool.offer.parameters)
    if found:
        return _failed("invalid arguments: " + "; ".join(found))
    try:
        value = await as_a_run(run, tool.title, tool.perform(CallContext(branch), arguments))
        data = to_json(value)
    except Raised as raised:
        return _failed(message_of(raised.value))
    except RequiresAction:
        return _failed(f"`{tool.title}` is executed outside, and nobody here does it (see `--handlers`)")
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    content: list[types.ContentBlock] = [types.TextContent(text=text)]
    data = {"result": data} if _wraps(result) else data
    return types.CallToolResult(content=content, structured_content=data if isinstance(data, dict) else None)


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=message)], is_error=True)

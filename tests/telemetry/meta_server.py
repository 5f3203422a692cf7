"""An MCP server on the official library with a tool that tells what came with the request."""

from __future__ import annotations

import json
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    tool = types.Tool(name="meta", description="Tells", input_schema={"type": "object"})
    return types.ListToolsResult(tools=[tool])


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    told = json.dumps(dict(context.meta or {}), default=str)
    return types.CallToolResult(content=[types.TextContent(text=told)])


async def main() -> None:
    server: Server[Any] = Server("meta", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


anyio.run(main)

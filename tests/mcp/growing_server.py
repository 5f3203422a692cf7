"""A server on the official library that gets a new tool when it is told to: `growing_server.py [MARK]`.

It knows only the newest version of the protocol, in which clients have to listen for changes.
"""

from __future__ import annotations

from typing import Any

import anyio
from mcp import MCPError, types
from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.types import UNSUPPORTED_PROTOCOL_VERSION
from pydantic import BaseModel

changes = InMemorySubscriptionBus()
names = ["grow", "wait"]


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    tools = [types.Tool(name=name, description=name, input_schema={"type": "object"}) for name in names]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "grow":
        names[:] = ["wait", "grown"]
        await changes.publish(ToolsListChanged())
    return types.CallToolResult(content=[types.TextContent(text=f"{params.name} is done")])


async def only_the_newest(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> BaseModel | dict[str, Any] | None:
    if ctx.method == "initialize":
        data = {"supported": ["2026-07-28"], "requested": (ctx.params or {}).get("protocolVersion", "")}
        raise MCPError(UNSUPPORTED_PROTOCOL_VERSION, "there is no handshake any more", data)
    return await call_next(ctx)


async def main() -> None:
    server: Server[Any] = Server(
        "growing",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(changes),
    )
    server.middleware.append(only_the_newest)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)

"""An MCP server on the official library with two small tools: `calculating_server.py TRANSPORT [PORT]`."""

from __future__ import annotations

import sys

from mcp.server import MCPServer

server = MCPServer("calculating")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def double(n: int) -> int:
    """Twice a number."""
    return 2 * n


if __name__ == "__main__":
    match sys.argv[1]:
        case "http":
            server.run("streamable-http", port=int(sys.argv[2]))
        case "sse":
            server.run("sse", port=int(sys.argv[2]))
        case _:
            server.run("stdio")

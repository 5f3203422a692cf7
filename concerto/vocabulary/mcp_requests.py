"""What an MCP server is asked for besides calls of its tools."""

from __future__ import annotations

from typing import Final

MCP_REQUESTS: Final = {
    "resources": "resources/list",
    "resource": "resources/read",
    "prompts": "prompts/list",
    "prompt": "prompts/get",
}
"""The method of `McpRef`, also the field of a `mock`, and the protocol's request, which is the name of the
call where permissions, journal and trace name it."""

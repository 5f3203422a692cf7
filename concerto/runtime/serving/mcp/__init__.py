"""A program as an MCP server: its tools and agents, prompts and resources."""

from concerto.runtime.serving.mcp.server import serve_http as serve_http
from concerto.runtime.serving.mcp.server import serve_stdio as serve_stdio

"""MCP: servers that a run uses, what they offer against what is declared, and programs as servers.

`servers` is the door for the rest of the runtime. The package `mcp` is imported when a server is first used.
"""

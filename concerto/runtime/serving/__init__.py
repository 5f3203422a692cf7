"""Programs that others use: as an MCP server."""

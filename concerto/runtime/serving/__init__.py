"""Programs that others use: as an MCP server."""

IDLE_SECONDS = 75
"""How long a connection is kept without a request. Clients and proxies keep them for up to a minute, and what
they send as it is closed is lost."""

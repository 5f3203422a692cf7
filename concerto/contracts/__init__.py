"""What a program counts on of MCP servers: interfaces, their comparison, `Concerto.lock`, written blocks."""

"""The world behind the gate: agents and their tool loop, providers, tools, connections, memory and emits."""

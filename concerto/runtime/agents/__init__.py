"""Executions of agents: planning, the tool loop, structured and streamed answers."""

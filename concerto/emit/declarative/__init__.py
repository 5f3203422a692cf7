"""The declarative sections of the IR: agents, tools and their schemas, servers, pipelines."""

"""Tool sources: where tools come from, as the parts of a run know it that offer them to models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from concerto.runtime.run.services import RunServices

if TYPE_CHECKING:
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.mcp.servers import McpServers
    from concerto.runtime.tools.declared_tools import Tools
    from concerto.runtime.tools.python_tools import PythonTools
    from concerto.vm.values import Value


class ToolSources(RunServices, Protocol):
    """The tools that the program declares, that the host gives, and that servers offer."""

    @property
    def tools(self) -> Tools: ...

    @property
    def python_tools(self) -> PythonTools: ...

    @property
    def mcp(self) -> McpServers: ...

    async def ask(self, agent: str, prompt: str, branch: Branch) -> Value:
        """What an agent answers to a prompt: its text, or its AgentError raised."""
        ...

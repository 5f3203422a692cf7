"""What executions of agents know of their run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from concerto.runtime.agents.sources import ToolSources

if TYPE_CHECKING:
    from concerto.runtime.agents.injections import Injections
    from concerto.runtime.agents.trust.knowledge import Trust
    from concerto.runtime.run.mocks import Mocks


class AgentServices(ToolSources, Protocol):
    """The sources of tools, and what answers or adds to them meanwhile."""

    @property
    def injections(self) -> Injections: ...

    @property
    def trust(self) -> Trust | None:
        """What tools bring in and do, where that is looked after."""

    @property
    def mocks(self) -> Mocks: ...

"""All parts of a run, as those know them that join them: the machine's host, and the end of the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from concerto.runtime.agents.services import AgentServices

if TYPE_CHECKING:
    from concerto.journal.matching import MatchedAnswers
    from concerto.runtime.agents.executions import Agents
    from concerto.runtime.agents.pipelines import Pipelines
    from concerto.runtime.hosts.executing import Hosts
    from concerto.runtime.io.sessions import Sessions
    from concerto.runtime.io.sqlite import StoreFiles
    from concerto.runtime.io.states import States
    from concerto.runtime.llm.models import Models
    from concerto.runtime.llm.prices import ModelCosts
    from concerto.runtime.run.mocks import Mocks


class Parts(AgentServices, Protocol):
    """`Run`, but for how it starts and ends."""

    @property
    def executions(self) -> Agents: ...

    @property
    def pipelines(self) -> Pipelines: ...

    @property
    def hosts(self) -> Hosts: ...

    @property
    def models(self) -> Models: ...

    @property
    def costs(self) -> ModelCosts: ...

    @property
    def states(self) -> States: ...

    @property
    def mocks(self) -> Mocks: ...

    @property
    def matched_answers(self) -> MatchedAnswers | None: ...

    @property
    def is_kept(self) -> bool: ...

    @property
    def stores(self) -> StoreFiles: ...

    @property
    def sessions(self) -> Sessions: ...

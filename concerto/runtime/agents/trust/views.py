"""What the parts of trust know of each other: of a run's knowledge, and of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from concerto.json_data import Json

if TYPE_CHECKING:
    from concerto.runtime.agents.sources import ToolSources
    from concerto.runtime.agents.trust.labels import Label, TrustRules, UntrustedTexts
    from concerto.runtime.llm.requests import Message
    from concerto.runtime.tools.toolbox import BoundTool


class StateUser(Protocol):
    """A call of a model that uses the state of a tool: as `CallScope` says."""

    @property
    def origins(self) -> tuple[str, ...]: ...

    def meet(self, label: Label) -> None: ...

    def use(self, holder: object) -> None: ...


class Knowledge(Protocol):
    """What a run knows of its tools and of untrusted texts; the methods are those of `Trust`."""

    @property
    def run(self) -> ToolSources: ...

    @property
    def rules(self) -> TrustRules: ...

    @property
    def texts(self) -> UntrustedTexts: ...

    def remember(self, text: str, origin: str) -> None: ...

    def remember_all(self, texts: Iterable[str], origin: str) -> None: ...

    def origins_in(self, value: Json) -> tuple[str, ...]: ...

    def origin_of(self, message: Message) -> str | None: ...

    def origin_of_result(self, message: Message, tool: BoundTool | None) -> str | None: ...

    def keep(self, holder: object, origins: Iterable[str]) -> None: ...

    def use_state(self, scope: StateUser, tool: str) -> None: ...


class Told(Protocol):
    """What a call knows of the conversation that it belongs to."""

    @property
    def trust(self) -> Knowledge: ...

    @property
    def agent(self) -> str: ...

    @property
    def guard(self) -> object: ...

    @property
    def label(self) -> Label: ...

    @property
    def trusted(self) -> Sequence[str]: ...

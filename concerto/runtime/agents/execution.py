"""One execution of an agent: what it was planned with, and how far it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from concerto.effects.meters import Meter
from concerto.effects.policy import Policy
from concerto.json_data import Json
from concerto.records import field, frozen, record, replace
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.requests import Message, Reply, Request
from concerto.runtime.tools.toolbox import EMPTY, BoundTool, SharedMaps, Toolbox, ToolKey
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.agents.tool_search import ToolSearch
    from concerto.runtime.agents.trust.conversation import Conversation
    from concerto.runtime.code.programs import ProgramTool

Sink: TypeAlias = Callable[[Sequence[Any]], Awaitable[None]]


@frozen
class Plan:
    """All that is settled before the first request. `request` has everything but messages and tools; its
    tool choice holds until a tool was called. `callable` are the tools that may be called, None for all."""

    agent: str
    connection: Connection
    request: Request
    toolbox: Toolbox
    callable: frozenset[ToolKey] | None
    max_iterations: int
    policy: Policy
    meters: tuple[Meter, ...]
    discovery: bool = False
    on_tool_error: int | None = None
    code: str = ""
    """Whether the model may write programs: `also`, `only`, or empty."""
    tool_search: int | None = None
    """Of more tools than so many, the model has to search for some."""
    maps: SharedMaps = field(default_factory=SharedMaps)
    memory: Value = None
    asks: str = ""
    """The agent whose model is asked in place of its own."""
    fallen_back: int = 0
    """How many models have failed."""
    fall_back: Callable[[Plan], Plan | None] | None = None
    """gives the plan with the next model, where there are others to ask; None after the last"""
    system_prompt: str = ""
    hand_over: Callable[[Plan, str], Awaitable[Plan]] | None = None
    """gives the plan with another agent in charge, where there are others to give the conversation to"""
    renewed: Callable[[Plan], Awaitable[Plan]] | None = None
    """gives the plan with the tools of the moment, where servers may change what they offer"""

    @property
    def offers_tools(self) -> bool:
        return self.request.tool_choice != "none"


@record
class CallRecord:
    """A tool call as it went, for `Response.tool_calls`."""

    id: str
    name: str
    tool: str
    method: str
    arguments: Json
    raw_arguments: str
    result: Json = None
    success: bool = False
    latency_ms: int = 0


@record
class Execution:
    """The state of the loop."""

    plan: Plan
    branch: Branch
    messages: list[Message]
    toolbox: Toolbox
    begun_with: int = 0
    """How many messages there were before the first request."""
    sink: Sink | None = None
    """Where the parts of a streamed answer go."""
    iteration: int = 0
    asked: Request | None = None
    """The last request, where a trace is kept."""
    reply: Reply | None = None
    """The last one."""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float | None = 0.0
    reasoning: list[str] = field(default_factory=list)
    """What the model thought before each reply."""
    calls: list[CallRecord] = field(default_factory=list)
    injected: list[str] = field(default_factory=list)
    unknown_in_a_row: int = 0
    nudged: bool = False
    demanding: bool = True
    """Whether the plan's tool choice still holds."""
    demanded_again: bool = False
    handoff: str = ""
    """The agent that the model gives the conversation over to, after the calls of its reply."""
    calls_left: int | None = None
    """How many more calls of tools it may make; None for any number."""
    failures: dict[tuple[str, str], int] = field(default_factory=dict)
    repairs: list[str] = field(default_factory=list)
    """What was mended in what the model wrote."""
    entities: dict[tuple[int, str], Any] = field(default_factory=dict)
    """Returned values whose methods are tools, by type and id."""
    trust: Conversation | None = None
    """What the conversation was told, where trust is looked after."""
    search: ToolSearch | None = None
    """What finds the tools that are not shown, if there are many."""
    programs: ProgramTool | None = None
    """What runs the programs that the model writes, if it may."""

    @property
    def tools(self) -> Mapping[str, BoundTool]:
        """The tools of the moment by their names; none where none are offered."""
        return self.toolbox.tools if self.plan.offers_tools else EMPTY.tools

    def tool(self, name: str) -> BoundTool | None:
        """What the model calls by this name."""
        programs, search = self.programs, self.search
        found = self.tools.get(name)
        if search is not None and found is None and name == search.tool.offer.name:
            return search.tool
        if programs is not None and name == programs.tool.offer.name:
            return programs.tool
        only = programs is not None and programs.only and not (found is not None and found.handoff)
        return None if only else found

    async def renew_tools(self) -> None:
        """Take over what servers have changed since the last request; what was injected stays."""
        if self.plan.renewed is not None:
            self.follow(await self.plan.renewed(self.plan))

    def follow(self, plan: Plan) -> None:
        """Go on with another plan; tools that were injected stay."""
        injected = [tool for name, tool in self.toolbox.tools.items() if name not in self.plan.toolbox.tools]
        self.plan = plan
        self.toolbox = plan.toolbox.with_tools(injected) if injected else plan.toolbox

    def request(self) -> Request:
        """The next request: everything so far, and the tools of the moment."""
        base = self.plan.request
        trust = self.trust
        toolbox = self.toolbox
        offers = toolbox.offers
        forced = base.forced_tool
        if trust is not None and trust.shown is not toolbox:
            offers = trust.offers(toolbox)
        if self.search is not None:
            offers = self.search.offers(toolbox, offers)
        if self.programs is not None:
            offers = self.programs.offers(toolbox, offers, self.plan.callable)
            if forced and self.programs.only:
                forced = self.programs.tool.offer.name
        demanding = self.demanding and (
            offers is toolbox.offers or any(forced in (offer.name, "") for offer in offers)
        )
        return replace(
            base,
            messages=tuple(self.messages),
            tools=offers if self.plan.offers_tools else (),
            tool_choice=base.tool_choice if demanding else "auto",
            forced_tool=forced if demanding else "",
            stream=self.sink is not None,
        )

    def count(self, reply: Reply) -> None:
        self.reply = reply
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out
        self.tokens_cached += reply.tokens_cached
        if reply.reasoning:
            self.reasoning.append(reply.reasoning)
        if self.cost_usd is not None:
            self.cost_usd = None if reply.cost_usd is None else self.cost_usd + reply.cost_usd

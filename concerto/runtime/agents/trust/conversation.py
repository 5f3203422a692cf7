"""What a conversation was told, and which of its model's calls that allows.

It begins with the label of its prompt and history. Every result of a tool that comes from outside makes it
untrusted, for good; calls carry the label of the request that brought them, so what comes back for one does
not touch its siblings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from concerto.json_data import Json
from concerto.runtime.agents.arguments import parsed
from concerto.runtime.agents.trust.calls import CallScope, GuardedCall
from concerto.runtime.agents.trust.labels import (
    NOTHING,
    SENTENCE,
    Label,
    joined,
    noting_the_beginning,
    said_in,
    texts_in,
    words_of,
)
from concerto.runtime.llm.requests import Message, Reply, ToolOffer
from concerto.trust.defaults import SECRET, UNTRUSTED
from concerto.trust.matching import deciding

if TYPE_CHECKING:
    from concerto.effects.gate import ModelCallScope
    from concerto.runtime.agents.trust.views import Knowledge
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.tools.toolbox import BoundTool, CallContext, Toolbox

_WHOSE = attrgetter("foreign", "offer.hosted")
_OF_PROGRAM = frozenset({(False, "")})


class Conversation:
    """The labels of one execution."""

    heard = NOTHING
    """Where the untrusted and the secret parts came from of all that was heard, which only grow."""
    label = NOTHING
    """of the last reply"""
    listens = False
    """Whether a reply can tell it anything."""
    _outer: CallScope | None = None
    """The call of a model that the execution runs in."""
    shown: Toolbox | None = None
    """The one that was looked at last, if all of it may be shown, whatever is heard."""
    _hosted: str | None = None
    """A provider's own tool in it."""

    def __init__(self, trust: Knowledge, agent: str, outer: ModelCallScope | None) -> None:
        self.trust = trust
        self.agent = agent
        self.guard = trust.rules.guards[agent]
        self.trusted: list[str] = []
        if outer is not None:
            assert isinstance(outer, CallScope)
            self._outer = outer
            self.hear(outer.label)

    @property
    def origins(self) -> tuple[str, ...]:
        """Where its untrusted parts came from."""
        return self.heard.untrusted

    def labels(self) -> dict[str, list[str]]:
        both = {UNTRUSTED: self.heard.untrusted, SECRET: self.heard.secret}
        return {label: list(origins) for label, origins in both.items() if origins}

    def add_labels(self, earlier: Mapping[str, Sequence[str]]) -> None:
        self.hear(Label(*[tuple(earlier.get(label, ())) for label in (UNTRUSTED, SECRET)]))

    def begin_with(self, message: Message, tool: BoundTool | None) -> None:
        """One of the messages with which the execution begins: its prompts, and what was said before, also by
        a tool."""
        origin = self.trust.origin_of(message)
        if message.calls:  # A model wrote what they are called with.
            asked = self.trust.origins_in([parsed(call.arguments) for call in message.calls])
            origin = origin or next(iter(asked), None)
        outer = () if self._outer is None else self._outer.label.untrusted
        match message.role:
            case "user" if outer:
                origin = origin or outer[0]  # A model has called what wrote it.
                self.trust.remember(message.text, origin)
            case "tool":
                origin = origin or self.trust.origin_of_result(message, tool)
            case "assistant" if heard := self.heard.untrusted:
                origin = origin or heard[0]
            case _:
                pass
        if origin is None:
            self.trusted.append(message.text)
        else:
            self.hear(Label((origin,)))

    def hand_over(self, agent: str, system_prompt: str) -> None:
        """Another agent goes on with the conversation: under its own guard, with all that was heard."""
        self.agent = agent
        self.guard = self.trust.rules.guards[agent]
        self.shown = None
        self.begin_with(Message("system", system_prompt), None)

    def _look_at(self, tools: Collection[BoundTool]) -> None:
        """Others than the program have described some, or execute them."""
        self.listens = True
        self._hosted = next((f"`{tool.offer.name}`" for tool in tools if tool.offer.hosted), None)
        for server in [tool.tool for tool in tools if tool.foreign]:
            if not self.trust.run.mcp.is_locked(server):
                self.hear(Label((f"the descriptions of mcp server `{server}`",)))
                break

    def answered(self, reply: Reply) -> None:
        """A reply has the label of its whole request, which decides what its calls may do; a provider's own
        tools have put in what they found, before the model asked for more in the same reply."""
        if self._hosted is not None:
            self.hear(Label((self._hosted,)))
        self.label = heard = self.heard
        if heard.untrusted:
            self.trust.texts.new.append((reply, heard.untrusted))

    def answered_with(self, value: Json, schema: Json) -> None:
        """A reply was read as a value: only what its schema lets a model choose among is the author's."""
        if untrusted := self.heard.untrusted:
            chosen = frozenset(words_of(schema))
            self.trust.remember_all([text for text in texts_in(value) if text not in chosen], untrusted[0])

    def failed(self, scope: ModelCallScope | None, message: str) -> None:
        """The program is about to be told why a call failed, and may stop the execution for it."""
        if isinstance(scope, CallScope) and scope.begun and scope.result.untrusted:
            self.hear(scope.result)
            self.trust.remember_all(said_in(message), scope.result.untrusted[0])

    def streamed(self, sink: Callable[[Sequence[Any]], Awaitable[None]]) -> Any:
        """Takes a reply whose parts the program may have before it has ended: known by how it begins."""
        if not (untrusted := self.heard.untrusted):
            return sink
        return noting_the_beginning(sink, lambda text: self.trust.remember(text, untrusted[0]))

    def offers(self, toolbox: Toolbox) -> tuple[ToolOffer, ...]:
        """The tools that a model is shown in a request that is about to be sent: no sinks any more under
        `lock`."""
        tools = toolbox.tools.values()
        if not _OF_PROGRAM.issuperset(map(_WHOSE, tools)):
            self._look_at(tools)
        if self.guard != "lock":
            self.shown = toolbox
            return toolbox.offers
        if not self.heard.untrusted:
            return toolbox.offers
        return tuple(
            [
                tool.offer
                for tool in tools
                if not (rule := self.trust.rules.known(tool).rule).sinks or deciding(rule)
            ]
        )

    def begin_call(self, caller: CallContext, tool: BoundTool, arguments: Mapping[str, Json]) -> None:
        """A call that the last reply asks for is tried, for the first time or again."""
        branch = caller.branch
        if branch.call is not None:
            branch.call.begin(arguments)
            return
        known = self.trust.rules.declared.get((tool.tool, tool.method)) or self.trust.rules.known(tool)
        if known.harmless and not self.label.untrusted:
            branch.call = CallScope(known, self.label)
        else:
            branch.call = GuardedCall(self, known, self.label, tool, caller.call_id, branch, arguments)

    def record_result(self, scope: CallScope | None, text: str, result: Json) -> None:
        """The model is about to be told a result as text; one of a call that was not even begun says
        nothing of the world."""
        if scope is None or not scope.begun:
            return
        told = scope.result
        if not told.untrusted:
            texts = self.trust.texts
            if (texts.new or texts.known) and not (scope.known.rule.closed or scope.vouched_for):
                # Program code may have put it where the tool found it.
                told = joined(told, Label(self.trust.origins_in(result)))
        if told is not self.heard:
            self.hear(told)
        if told.untrusted:
            self.trust.texts.new.append(
                ((text,) if len(text) < SENTENCE else [text, *said_in(result)], told.untrusted)
            )
        elif not scope.label.untrusted or scope.vouched_for:
            self.trusted.append(text)

    def program(self) -> ProgramTrust:
        """What a program is told that the last reply brought."""
        return ProgramTrust(self)

    def hear_program(self, heard: Label, text: str) -> None:
        """The model is about to be told what a program made of what it heard."""
        self.hear(heard)
        if heard.untrusted or self.label.untrusted:
            self.trust.remember(text, (*heard.untrusted, *self.label.untrusted)[0])
        else:
            self.trusted.append(text)

    def end(self) -> None:
        """The call in which this execution ran has met all that this one was told."""
        if self._outer is not None:
            self._outer.meet(self.heard)

    def hear(self, label: Label) -> None:
        self.heard = joined(self.heard, label)
        self.listens = True


class ProgramTrust:
    """The labels in a program that a model wrote: what it reads holds for all that follows in it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._label = conversation.label
        self._heard = NOTHING

    def scope(self, tool: BoundTool, call_id: str, branch: Branch) -> CallScope:
        """The scope of its next call."""
        conversation = self._conversation
        known = conversation.trust.rules.known(tool)
        scope = GuardedCall(conversation, known, self._label, tool, call_id, branch, {})
        scope.begun = False
        branch.call = scope
        return scope

    def record_result(self, scope: CallScope) -> None:
        """A call has given something to the program."""
        if scope.begun:
            self._heard = joined(self._heard, scope.result)
            self._label = joined(self._label, scope.result)

    def end(self, text: str) -> None:
        """The model is about to be told this of the program."""
        self._conversation.hear_program(self._heard, text)

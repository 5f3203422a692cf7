"""Trust at run time: what each conversation was told, and which of its model's calls that allows.

A conversation begins with the label of its prompt and history. Every result of a tool that comes from outside
makes it untrusted, for good; calls carry the label of the request that brought them, so what comes back
for one does not touch its siblings. The rules are those of the table that the checker has looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from functools import cached_property, partial
from typing import TYPE_CHECKING

from greenlet import getcurrent

from concerto.effects.error_kinds import EmitKind, ToolKind
from concerto.effects.kinds import AnswerType, AnyEffect, EmitAwait, HostCall, Http, McpCall, ToolCall
from concerto.ir.module import TrustRule, TrustTable
from concerto.json_data import Json
from concerto.natives.hashmap import MISSING, HashMap, KeyWatcher
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.agents.trust_labels import (
    NOTHING,
    SHORTEST,
    KnownTool,
    Label,
    joined,
    known_tool,
    texts_in,
)
from concerto.runtime.concurrency.fibers import Fiber
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message, ToolCallRequest, ToolOffer
from concerto.runtime.run.agent_failures import tool_failure
from concerto.trust.defaults import NET, OUTSIDE, SECRET, TRUSTED, UNDECLARED_SERVER, UNTRUSTED
from concerto.trust.labels import rule_of
from concerto.trust.matching import deciding, is_harmless
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.agents.sources import ToolSources
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.tools.toolbox import BoundTool, Toolbox

APPROVE = "approve"
"""The channel on which approvals are asked for."""
_MOST_TEXTS = 10_000
"""So many are known again. After more, whatever a program sends to a model may hold one."""
_UNLABELLED = TrustRule("", "")
_YES = AnswerType("Bool", lambda answer: isinstance(answer, bool), {"type": "boolean"})


def table_for(run: ToolSources) -> TrustTable:
    """The table of a program that was compiled without its manifest, made as the compiler makes it."""
    from concerto.trust.analysis import TrustSettings, analyze_trust

    manifest = run.options.manifest
    settings = TrustSettings(
        tools=manifest.trust.get("tools", {}),
        allows=run.permissions.allows,
        servers=tuple(manifest.mcp),
        python_tools=(*manifest.python_tools, *run.options.tools),
    )
    return analyze_trust(run.module, settings).table


class Trust:
    """What a run knows of its tools, of untrusted texts, and of what keeps some."""

    def __init__(self, run: ToolSources, table: TrustTable) -> None:
        self._run = run
        self._rules = table.by_key
        self._tools: dict[tuple[str, str], KnownTool] = table.known
        self._texts: dict[str, str] = {}
        self._forgot_texts = False
        self._literal = run.options.manifest.trust.get("prompts") == "literal"
        self._heard: str | None = None
        """Where the first untrusted text came from that the program may have."""
        self._kept: dict[object, tuple[str, ...]] = {}
        """Where the untrusted contents of stores, and of states of tools, came from."""
        self._watched: set[object] = set()

    def known(self, tool: BoundTool) -> KnownTool:
        """What the table says of a tool, or what holds for one that it does not know."""
        key = (tool.tool, tool.method)
        found = self._tools.get(key)
        if found is None:
            rule = self._rules.get(key) or self._rules.get((tool.tool, ""))
            if rule is None and tool.tool not in self._declared:
                default = UNDECLARED_SERVER if tool.foreign else OUTSIDE
                return known_tool(tool.title, rule_of(key, tool.labels, default))
            found = self._tools[key] = known_tool(tool.title, rule or _UNLABELLED)
        return found

    @property
    def _declared(self) -> set[str]:
        """Of these the program itself says what holds, though that be nothing."""
        module = self._run.module
        providers = [module.types[provider.type].name for provider in module.providers]
        # The tools that agents have of their own have labels.
        return {*providers, *[each.name for each in module.tools], *[each.name for each in module.agents]}

    def begin(
        self,
        agent: str,
        toolbox: Toolbox,
        messages: Sequence[Message],
        branch: Branch,
        origins: Sequence[str] = (),
    ) -> Conversation:
        """The conversation of an execution; `origins` are those of what was said in it before."""
        guard = str(self._run.agents[agent].settings.get("guard") or "")
        outer = branch.call if isinstance(branch.call, CallScope) else None
        conversation = Conversation(self, self._run, agent, guard, outer)
        if origins:
            conversation.hear(Label(tuple(origins)))
        called: dict[str, str] = {}
        for message in messages:
            tool = None
            if message.calls:
                called |= {call.id: call.name for call in message.calls}
            elif message.role == "tool":
                tool = toolbox.tools.get(message.name or called.get(message.call_id, ""))
            conversation.begin_with(message, tool)
        return conversation

    def remember(self, text: str, origin: str) -> None:
        """Keep in mind that a text is untrusted, wherever the program puts it."""
        self._heard = self._heard or origin
        if text and text not in self._texts:
            if len(self._texts) < _MOST_TEXTS:
                self._texts[text] = origin
            else:
                self._forgot_texts = True

    def origin_of(self, message: Message) -> str | None:
        """Where a text of the program has its untrusted part from, as far as that can be seen."""
        if self._forgot_texts:
            return "one of very many untrusted texts"
        if not self._texts and not self._literal:
            return None
        origin = self._texts.get(message.text)
        if origin is not None and (len(message.text) >= SHORTEST or message.role in ("assistant", "tool")):
            return origin
        return next(
            (
                origin
                for text, origin in self._texts.items()
                if len(text) >= SHORTEST and text in message.text
            ),
            self._heard if self._literal and message.text not in self._own_texts else None,
        )

    @cached_property
    def _own_texts(self) -> set[str]:
        """What the author wrote as a whole, and whoever started the run."""
        module, args = self._run.module, self._run.options.args
        prompts = [str(agent.settings.get("system_prompt") or "") for agent in module.agents]
        return {*[each for each in module.constants if isinstance(each, str)], *args, *prompts}

    def inherit(self, earlier: Trust) -> None:
        """Know what an earlier run knew, whose values may be used here."""
        self._texts, self._kept = earlier._texts, earlier._kept
        self._forgot_texts, self._heard = earlier._forgot_texts, earlier._heard

    def origin_of_result(self, message: Message, tool: BoundTool | None) -> str | None:
        """Where the result of a call comes from that an earlier conversation had."""
        if tool is None:
            return "a tool of before"
        rule = self.known(tool).rule
        untrusted = UNTRUSTED in rule.sources or (rule.closed and message.failed)
        return f"`{tool.title}`" if untrusted and TRUSTED not in rule.ways else None

    def keep(self, holder: object, origins: Iterable[str]) -> None:
        """Something that lasts holds what came from there."""
        known = self._kept.get(holder, ())
        self._kept[holder] = tuple(dict.fromkeys([*known, *origins]))

    def kept_in(self, holder: object, more: Iterable[str] = ()) -> tuple[str, ...]:
        """Where the untrusted contents of something that lasts came from."""
        return tuple(dict.fromkeys([*self._kept.get(holder, ()), *more]))

    def touch(self, value: Value) -> None:
        """Program code uses a hashmap, a ledger or a memory: in a call of a model it is told what that holds.
        What it puts in there is what the model wrote."""
        match value:
            case HashMap(store=store):
                holder: object = store
                if store not in self._watched:
                    changed = partial(self._changed, store, store.entries)
                    store.watchers.append(KeyWatcher(MISSING, "", lambda key, old, new: changed()))
                    self._watched.add(store)
            case Ledger(all=entries):
                holder = entries
                entries.watcher = entries.watcher or partial(self._changed, entries, entries)
            case Memory(entries=messages):
                holder = value
                value.watcher = value.watcher or partial(self._changed, value, messages)
            case _:
                return
        scope, origins = _scope_here(), self._kept.get(holder, ())
        if scope is not None:
            scope.meet(Label(origins))
        elif origins:
            self._heard = self._heard or origins[0]

    def _changed(self, holder: object, contents: Sized) -> None:
        if not contents:
            self._kept.pop(holder, None)
        elif origins := self.origins_here():
            self.keep(holder, origins)

    def origins_here(self) -> tuple[str, ...]:
        """Where the untrusted part of what program code writes now came from."""
        scope = _scope_here()
        if scope is None:
            return (self._heard,) if self._literal and self._heard else ()
        return scope.label.untrusted

    def use_state(self, scope: CallScope, tool: str, method: str) -> None:
        """A method of a declared tool runs in a call of a model, with the state that its tool has."""
        kept = self._kept.get(("tool", tool), ())
        if self._literal and self._heard and not kept:
            kept = (self._heard,)  # Program code may have called it.
        if (kept or scope.label.untrusted) and self._has_state(tool, method):
            scope.meet(Label(kept))
            if scope.label.untrusted:
                self.keep(("tool", tool), scope.label.untrusted)

    def _has_state(self, tool: str, method: str) -> bool:
        return any(
            each.takes_self and each.name == method
            for declared in self._run.module.tools
            if declared.name == tool and declared.fields
            for each in declared.methods
        )

    def hear_outside(self, effect: AnyEffect, found: Value) -> None:
        """Program code by itself has asked somebody outside."""
        match effect:
            case McpCall(server=owner, function=method) | HostCall(tool=owner, method=method):
                rule = self._rules.get((owner, method)) or self._rules.get((owner, ""))
                if rule is None or UNTRUSTED in rule.sources:
                    self._heard = self._heard or f"`{owner}::{method}`"
                    for text in texts_in(found):
                        self.remember(text, f"`{owner}::{method}`")
            case Http():
                self._heard = self._heard or "`http`"
                for text in texts_in(found["body"]):
                    self.remember(text, "`http`")
            case _:
                pass

    def hear_host(self, name: str, message: Json, branch: Branch) -> tuple[str, ...]:
        """A process says something to the program: where what is untrusted in it came from."""
        rule = self._rules.get((name, ""))
        if rule is None or UNTRUSTED not in rule.sources:
            return ()
        origin = f"`{name}`"
        self._heard = self._heard or origin
        for text in texts_in(message):
            self.remember(text, origin)
        if isinstance(branch.call, CallScope):
            branch.call.meet(Label((origin,)))
        return (origin,)


def _scope_here() -> CallScope | None:
    """The call of a model that the running code belongs to."""
    fiber = getcurrent()
    call = fiber.branch.call if isinstance(fiber, Fiber) else None
    return call if isinstance(call, CallScope) else None


class Conversation:
    """The labels of one execution."""

    def __init__(
        self,
        trust: Trust,
        run: ToolSources,
        agent: str,
        guard: str,
        outer: CallScope | None,
    ) -> None:
        self.trust = trust
        self.run = run
        self.agent = agent
        self.guard = guard
        self._outer = outer
        self._untrusted: list[str] = []
        self._secret: list[str] = []
        self.trusted: list[str] = []
        self._origins_of_label = 0
        self._toolbox: Toolbox | None = None
        self._servers: list[str] = []
        self._hosted: str | None = None
        self.label = NOTHING
        """of the request that was answered last"""
        if outer is not None:
            self.hear(outer.label)

    @property
    def origins(self) -> tuple[str, ...]:
        """Where its untrusted parts came from."""
        return tuple(self._untrusted)

    def begin_with(self, message: Message, tool: BoundTool | None) -> None:
        """One of the messages with which the execution begins: its prompts, and what was said before, also by
        a tool."""
        origin = self.trust.origin_of(message)
        outer = () if self._outer is None else self._outer.label.untrusted
        match message.role:
            case "user" if outer:
                origin = origin or outer[0]  # A model has called what wrote it.
                self.trust.remember(message.text, origin)
            case "tool":
                origin = origin or self.trust.origin_of_result(message, tool)
            case "assistant" if self._untrusted:
                origin = origin or self._untrusted[0]
            case _:
                pass
        if origin is None:
            self.trusted.append(message.text)
        else:
            self.hear(Label((origin,)))

    def hand_over(self, agent: str, system_prompt: str) -> None:
        """Another agent goes on with the conversation: under its own guard, with all that was heard."""
        self.agent = agent
        self.guard = str(self.run.agents[agent].settings.get("guard") or "")
        self.begin_with(Message("system", system_prompt), None)

    def ask(self, toolbox: Toolbox) -> dict[str, list[str]]:
        """The labels of a request that is about to be sent. Those that it had in an earlier run are added."""
        if toolbox is not self._toolbox:
            self._look_at(toolbox)
        for server in self._servers:
            if not self.run.mcp.is_locked(server):
                self.hear(Label((f"the descriptions of mcp server `{server}`",)))
                break
        return {UNTRUSTED: self._untrusted, SECRET: self._secret}

    def answered(self, text: str, toolbox: Toolbox) -> None:
        """A reply has the label of its whole request, which decides what its model may do; a provider's own
        tools have put in what they found."""
        if toolbox is not self._toolbox:
            self._look_at(toolbox)
        untrusted, secret = self._untrusted, self._secret
        origins = len(untrusted) + len(secret)  # Both only grow.
        if origins > self._origins_of_label:
            self._origins_of_label = origins
            self.label = Label(tuple(untrusted), tuple(secret))
        if self._hosted is not None:
            self.hear(Label((self._hosted,)))
        if text and untrusted:
            self.trust.remember(text, untrusted[0])

    def _look_at(self, toolbox: Toolbox) -> None:
        """Find what in a toolbox brings something in by being offered."""
        self._toolbox = toolbox
        self._servers = [tool.tool for tool in toolbox.tools.values() if tool.foreign]
        self._hosted = next((f"`{offer.name}`" for offer in toolbox.offers if offer.hosted), None)

    def offers(self, toolbox: Toolbox) -> tuple[ToolOffer, ...]:
        """The tools that a model is shown: under `lock` no sinks any more."""
        if self.guard != "lock" or not self._untrusted:
            return toolbox.offers
        return tuple(
            [
                tool.offer
                for tool in toolbox.tools.values()
                if not (rule := self.trust.known(tool).rule).sinks or deciding(rule)
            ]
        )

    def calls(
        self,
        toolbox: Toolbox,
        asked: Sequence[ToolCallRequest],
        branches: Sequence[Branch],
    ) -> list[CallScope | None]:
        """The scopes of the calls that the last reply asks for, each known to its branch from now on; None
        where there is no such tool."""
        found: list[CallScope | None] = []
        for call, branch in zip(asked, branches, strict=True):
            tool = toolbox.tools.get(call.name)
            scope = None if tool is None else CallScope(self, tool, call.id, branch)
            branch.call = scope
            found.append(scope)
        return found

    def record_result(self, scope: CallScope | None, text: str, *, begun: bool) -> None:
        """The model is about to be told a result; one of a call that was not even begun says nothing of the
        world."""
        if scope is None or not begun:
            return
        told = scope.result
        if told is not NOTHING:
            self.hear(told)
        if told.untrusted:
            self.trust.remember(text, told.untrusted[0])
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
            self._outer.meet(Label(tuple(self._untrusted), tuple(self._secret)))

    def hear(self, label: Label) -> None:
        for origin in label.untrusted:
            if origin not in self._untrusted:
                self._untrusted.append(origin)
        for origin in label.secret:
            if origin not in self._secret:
                self._secret.append(origin)


class ProgramTrust:
    """The labels in a program that a model wrote: what it reads holds for all that follows in it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._label = conversation.label
        self._heard = NOTHING

    def scope(self, tool: BoundTool, call: ToolCallRequest, branch: Branch) -> CallScope:
        """The scope of its next call."""
        scope = CallScope(self._conversation, tool, call.id, branch)
        scope.label = self._label
        branch.call = scope
        return scope

    def record_result(self, scope: CallScope, *, begun: bool) -> None:
        """A call has given something to the program."""
        if begun:
            self._heard = joined(self._heard, scope.result)
            self._label = joined(self._label, scope.result)

    def end(self, text: str) -> None:
        """The model is about to be told this of the program."""
        self._conversation.hear_program(self._heard, text)


class CallScope:
    """One call of a tool by a model, with all that happens in it. Implements the gate's ModelCallScope."""

    def __init__(
        self,
        conversation: Conversation,
        tool: BoundTool,
        call_id: str,
        branch: Branch,
    ) -> None:
        self._conversation = conversation
        self._tool = tool
        self._call_id = call_id
        self._branch = branch
        self._known = conversation.trust.known(tool)
        self._arguments: Mapping[str, Json] = {}
        self._admitted = False
        self._met = NOTHING
        self.label = conversation.label

    @property
    def vouched_for(self) -> bool:
        """Whether the author says that the result is trusted, whatever was asked."""
        return TRUSTED in self._known.rule.ways

    @property
    def result(self) -> Label:
        """The label of what the call gives."""
        own, met = self._known.label, self._met
        if met is NOTHING or self._known.rule.closed:
            return own
        untrusted = () if self.vouched_for else own.untrusted or met.untrusted
        return Label(untrusted, own.secret or met.secret)

    @property
    def hides_failures(self) -> bool:
        """Whether the text of a failure is another's, though the answers are the author's."""
        return self._known.rule.closed

    def begin(self, arguments: Mapping[str, Json]) -> None:
        self._arguments = arguments
        self._admitted = False

    def meet(self, label: Label) -> None:
        """Something in the call was told what has such a label."""
        self._met = joined(self._met, label)

    def admits(self, effect: AnyEffect) -> bool:
        guarded = self._known.rule.sinks and self.label.untrusted and not self._admitted
        if guarded and self._is(effect):
            return False
        if isinstance(effect, ToolCall):
            self._conversation.trust.use_state(self, effect.tool, effect.method)
        return True

    async def ask_for(self, effect: AnyEffect) -> None:
        sinks = self._sinks_to_guard()
        if sinks and not is_harmless(self._known.rule, self._arguments, self._conversation.trusted):
            if self._conversation.guard == "approve":
                await self._ask(sinks)
            else:
                raise self._refused(sinks, "")
        self._admitted = True
        self.admits(effect)

    def _is(self, effect: AnyEffect) -> bool:
        match effect:
            case ToolCall() | HostCall():
                return (effect.tool, effect.method) == (self._tool.tool, self._tool.method)
            case McpCall():
                return effect.server == self._tool.tool
            case _:
                return False

    def _sinks_to_guard(self) -> list[str]:
        """The ways in which the call may do harm. Without a guard the net is one only for a secret."""
        if self._conversation.guard or self.label.secret:
            return self._known.rule.sinks
        return [kind for kind in self._known.rule.sinks if kind != NET]

    async def _ask(self, sinks: Sequence[str]) -> None:
        """Have a person decide about exactly this call."""
        payload = {
            "agent": self._conversation.agent,
            "tool": self._tool.title,
            "arguments": dict(self._arguments),
            "call_id": self._call_id,
            "sinks": list(sinks),
            "origins": [origin.strip("`") for origin in self.label.untrusted],
        }
        self._conversation.run.emits.emit(APPROVE, payload)
        try:
            asked = EmitAwait(APPROVE, payload, _YES, approval=True)
            answer = await self._conversation.run.pass_gate(asked, self._branch)
        except Raised as raised:
            error = raised.value
            kind = error.kind if isinstance(error, ErrorValue) else ""
            why = "nobody answers" if kind == EmitKind.NO_LISTENER else "there was no answer that counts"
            raise self._refused(sinks, f"{why} on channel `{APPROVE}`") from None
        if answer is not True:
            raise self._refused(sinks, "it was not approved")

    def _refused(self, sinks: Sequence[str], why: str) -> Raised:
        tool, guard = self._tool, self._conversation.guard
        origins = ", ".join(self.label.untrusted)
        message = (
            f"`{tool.title}` was not called: this conversation holds untrusted text from {origins}, and "
            f"`{tool.title}` acts on the world ({', '.join(sinks)})"
        )
        if why:
            message += f"; {why}"
        remedies = _remedies(self._known.rule)
        told: dict[str, Value] = {
            "agent": self._conversation.agent,
            "tool": tool.title,
            "id": self._call_id,
            "arguments": dict(self._arguments),
            "sinks": list(sinks),
            "guard": guard or "deny",
            "origins": [origin.strip("`") for origin in self.label.untrusted],
            "reason": why or f"guard `{guard or 'deny'}`",
        }
        self._conversation.run.emit_event(Channel.TRUST_BLOCKED, lambda: told)
        self._conversation.run.note("blocked", lambda: told, self._branch)
        return tool_failure(f"{message}. {remedies}", ToolKind.BLOCKED, tool.tool, tool.method)


def _remedies(rule: TrustRule) -> str:
    """What a model can do instead."""
    names = deciding(rule)
    instead = (
        "Do not try again. Go on without it, and say in your answer what should be done and why it was not"
    )
    if not names:
        return f"{instead}."
    shown = ", ".join(f"`{name}`" for name in names)
    return f"It is possible only with {shown} as the user wrote it. {instead}."

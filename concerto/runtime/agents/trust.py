"""Trust at run time: what each conversation was told, and which of its model's calls that allows.

A conversation begins with the label of its prompt and history. Every result of a tool that comes from outside
makes it untrusted, for good; calls carry the label of the request that brought them, so what comes back
for one does not touch its siblings. The rules are those of the table that the checker has looked at.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Sized
from functools import cached_property, partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import ref

from greenlet import getcurrent

from concerto.effects.error_kinds import EmitKind, ToolKind
from concerto.effects.kinds import AnswerType, AnyEffect, EmitAwait, Http, ToolCall, subject_of
from concerto.effects.layers.trust import ask_trust
from concerto.json_data import Json
from concerto.natives.hashmap import MISSING, HashMap, KeyWatcher
from concerto.natives.json_text import loads
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.agents.arguments import parsed
from concerto.runtime.agents.trust_labels import (
    NOTHING,
    SHORTEST,
    KnownTool,
    Label,
    Planned,
    TrustRules,
    UntrustedTexts,
    is_call_of,
    joined,
    noting_the_beginning,
    remedies,
    said_in,
    texts_in,
    words_of,
)
from concerto.runtime.concurrency.fibers import Fiber
from concerto.runtime.io.channels import Channel
from concerto.runtime.llm.requests import Message, Reply, ToolCallRequest, ToolOffer
from concerto.runtime.run.agent_failures import tool_failure
from concerto.trust.defaults import NET, SECRET, TRUSTED, UNTRUSTED
from concerto.trust.matching import deciding, is_harmless
from concerto.vm.json_values import to_json
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.effects.gate import ModelCallScope, Passage, Perform
    from concerto.runtime.agents.sources import ToolSources
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.tools.toolbox import BoundTool, Toolbox

APPROVE = "approve"
"""The channel on which approvals are asked for."""
_FOREIGN, _HOSTED = attrgetter("foreign"), attrgetter("hosted")
_YES = AnswerType("Bool", lambda answer: isinstance(answer, bool), {"type": "boolean"})


class Trust:
    """What a run knows of its tools, of untrusted texts, and of what keeps some."""

    def __init__(self, rules: TrustRules, run: ToolSources) -> None:
        self.run = run
        self.rules = rules
        self._said: list[str] = [*run.options.args]
        """What persons say to the run."""
        self._texts = UntrustedTexts(lambda text: any(text in said for said in self._said))
        self._literal = run.options.manifest.trust.get("prompts") == "literal"
        self._kept: dict[object, tuple[str, ...]] = {}
        """Where the untrusted contents of stores, and of states of tools, came from."""
        self._watched: set[object] = set()

    def begin(
        self,
        plan: Planned,
        messages: Sequence[Message],
        branch: Branch,
        origins: Sequence[str] = (),
    ) -> Conversation:
        """The conversation of an execution; `origins` are those of what was said in it before."""
        conversation = Conversation(self, plan.agent, branch.call)
        if origins:
            conversation.hear(Label(tuple(origins)))
        plan.maps.on_made = self._watch
        for shared in (*plan.maps.given, plan.memory):
            if shared is not None and (kept := self.kept_in(self._watch(shared))):
                conversation.hear(Label(kept))
        called: dict[str, str] = {}
        for message in messages:
            tool = None
            if message.calls:
                called |= {call.id: call.name for call in message.calls}
            elif message.role == "tool":
                tool = plan.toolbox.tools.get(message.name or called.get(message.call_id, ""))
            conversation.begin_with(message, tool)
        return conversation

    def layer(self) -> Callable[[Passage, Perform], Awaitable[Value]]:
        """What asks it at the gate."""
        return ask_trust(self.rules.bring_in, self.hear_outside)

    def remember(self, text: str, origin: str) -> None:
        """Keep in mind that a text is untrusted, wherever the program puts it."""
        self._texts.add(text, origin)

    def origins_in(self, value: Json) -> tuple[str, ...]:
        """Where an untrusted text in JSON came from that a program has put there, as far as can be seen."""
        texts = texts_in(value) if self._texts else ()
        found = dict.fromkeys(map(self._texts.origin_in, texts))
        return tuple([origin for origin in found if origin is not None])

    def remember_all(self, texts: Iterable[str], origin: str) -> None:
        for text in texts:
            self.remember(text, origin)

    def given(self, answer: Json) -> None:
        """A person has said something."""
        self._said += texts_in(answer)

    def origin_of(self, message: Message) -> str | None:
        """Where a text of the program has its untrusted part from, as far as that can be seen."""
        texts = self._texts
        if not (texts or self._literal):
            return None
        origin = texts.origin_of(message.text)
        if origin is not None and (len(message.text) >= SHORTEST or message.role in ("assistant", "tool")):
            return origin
        shown = "\n".join([message.text, *[f"{each.url}\n{each.name}" for each in message.media]])
        heard = texts.heard if self._literal and shown not in self._own_texts else None
        return texts.origin_in(shown) or heard

    @cached_property
    def _own_texts(self) -> set[str]:
        """What the author wrote as a whole, and whoever started the run."""
        module, args = self.run.module, self.run.options.args
        prompts = [str(agent.settings.get("system_prompt") or "") for agent in module.agents]
        return {*[each for each in module.constants if isinstance(each, str)], *args, *prompts}

    def inherit(self, earlier: Trust) -> None:
        """Know what an earlier run knew, whose values may be used here."""
        self._texts, self._kept = earlier._texts, earlier._kept

    def origin_of_result(self, message: Message, tool: BoundTool | None) -> str | None:
        """Where the result of a call comes from that an earlier conversation had."""
        if tool is None:
            return "a tool of before"
        rule = self.rules.known(tool).rule
        untrusted = UNTRUSTED in rule.sources or (rule.closed and message.failed)
        return f"`{tool.title}`" if untrusted and TRUSTED not in rule.ways else None

    def keep(self, holder: object, origins: Iterable[str]) -> None:
        """Something that lasts holds what came from there."""
        if known := self.kept_in(holder, origins):
            self._kept[holder] = known

    def kept_in(self, holder: object, more: Iterable[str] = ()) -> tuple[str, ...]:
        """Where the untrusted contents of something that lasts came from."""
        known = self._kept.get(holder, ())
        if isinstance(holder, Memory):
            known = (*known, *holder.origins)
        return tuple(dict.fromkeys([*known, *more]))

    def touch(self, value: Value) -> None:
        """Program code uses a hashmap, a ledger or a memory: in a call of a model it is told what that holds.
        What it puts in there is what the model wrote."""
        self.hear_kept(None, self.kept_in(self._watch(value)))

    def _watch(self, value: Value) -> object:
        """What holds the contents of a value that lasts; who changes them leaves the label of its call."""
        match value:
            case HashMap(store=store):
                if store not in self._watched:
                    changed = partial(self._changed, store, store.entries)
                    store.watchers.append(KeyWatcher(MISSING, "", changed))
                    self._watched.add(store)
                return store
            case Ledger(all=entries):
                entries.watcher = entries.watcher or partial(self._changed, entries, entries)
                return entries
            case Memory(entries=messages):
                value.watcher = value.watcher or partial(self._changed, value, messages)
                return value
            case _:
                return None

    def _changed(self, holder: object, contents: Sized, *_: Value) -> None:
        if not contents:
            self._kept.pop(holder, None)
        elif origins := self.origins_here():
            self.keep(holder, origins)

    def origins_here(self) -> tuple[str, ...]:
        """Where the untrusted part of what program code writes now came from."""
        scope = _scope_here()
        if scope is None:
            heard = self._texts.heard
            return (heard,) if self._literal and heard else ()
        return scope.origins

    def origins_of(self, changes: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
        """The same of what it writes into a file, which it may have been told before."""
        return self.origins_here() or self.origins_in([loads(text) for _, text in changes if text])

    def use_state(self, scope: CallScope, tool: str) -> None:
        """A method of a declared tool runs in a call of a model, with the state that its tool has."""
        kept = self._kept.get(("tool", tool), ())
        if self._literal and self._texts.heard and not kept:
            kept = (self._texts.heard,)  # Program code may have called it.
        scope.use(("tool", tool))
        scope.meet(Label(kept))

    def hear_outside(self, effect: AnyEffect, found: Value, call: ModelCallScope | None) -> None:
        """Program code has asked somebody, by itself or in a call of a model, and was told this, or failed
        so."""
        rule, origin = self.rules.rule_of_call(effect), f"`{subject_of(effect)}`"
        if isinstance(effect, Http):
            origin, found = "`http`", found["body"] if isinstance(found, dict) else found
        told = found.message if isinstance(found, ErrorValue) else to_json(found)
        if rule is not None and TRUSTED in rule.ways:
            self._texts.drop(texts_in(told))
        elif rule is None or not rule.closed or isinstance(found, ErrorValue):
            self.hear_kept(told, (origin,), call)

    def hear_kept(self, found: Json, origins: Sequence[str], call: ModelCallScope | None = None) -> None:
        """Program code, maybe in a call of a model, is told what came from there, now or before."""
        if not origins:
            return
        self._texts.heard = self._texts.heard or origins[0]
        self.remember_all(texts_in(found), origins[0])
        call = call or _scope_here()
        if isinstance(call, CallScope):
            call.meet(Label(tuple(origins)))

    def hear_host(self, name: str, message: Json, branch: Branch) -> tuple[str, ...]:
        """A process says something to the program: where what is untrusted in it came from."""
        rule = self.rules.rule(name, "")
        if rule is None or UNTRUSTED not in rule.sources:
            return ()
        self.hear_kept(message, origins := (f"`{name}`",), branch.call)
        return origins


def _scope_here() -> CallScope | None:
    """The call of a model that the running code belongs to."""
    fiber = getcurrent()
    call = fiber.branch.call if isinstance(fiber, Fiber) else None
    return call if isinstance(call, CallScope) else None


class Conversation:
    """The labels of one execution."""

    label = NOTHING
    """of the last reply that asks for calls"""
    _outer: CallScope | None = None
    """The call of a model that the execution runs in."""
    _toolbox: Toolbox | None = None
    """The one that was looked at last."""
    _servers: Sequence[str] = ()
    """The MCP servers in it."""
    _hosted: str | None = None
    """A provider's own tool in it."""

    def __init__(self, trust: Trust, agent: str, outer: ModelCallScope | None) -> None:
        self.trust = trust
        self.agent = agent
        self.guard = trust.run.agents[agent].settings.get("guard")
        self.labels: dict[str, list[str]] = {UNTRUSTED: [], SECRET: []}
        """Where the untrusted and the secret parts came from of all that was heard, which only grow."""
        self.trusted: list[str] = []
        if outer is not None:
            assert isinstance(outer, CallScope)
            self._outer = outer
            self.hear(outer.label)

    @property
    def origins(self) -> tuple[str, ...]:
        """Where its untrusted parts came from."""
        return tuple(self.labels[UNTRUSTED])

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
            case "assistant" if heard := self.labels[UNTRUSTED]:
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
        self.guard = self.trust.run.agents[agent].settings.get("guard")
        self.begin_with(Message("system", system_prompt), None)

    def ask(self, toolbox: Toolbox) -> dict[str, list[str]]:
        """The labels of a request with these tools that is about to be sent. Those that it had in an earlier
        run are added."""
        if toolbox is not self._toolbox:
            self._toolbox = toolbox
            tools, offers = toolbox.tools.values(), toolbox.offers
            self._servers = [each.tool for each in tools if each.foreign] if any(map(_FOREIGN, tools)) else ()
            hosted = any(map(_HOSTED, offers))
            self._hosted = next(f"`{each.name}`" for each in offers if each.hosted) if hosted else None
        for server in self._servers:
            if not self.trust.run.mcp.is_locked(server):
                self.hear(Label((f"the descriptions of mcp server `{server}`",)))
                break
        return self.labels

    def answered(self, reply: Reply) -> None:
        """A reply has the label of its whole request; a provider's own tools have put in what they found,
        before the model asked for more in the same reply."""
        if self._hosted is not None:
            self.hear(Label((self._hosted,)))
        if untrusted := self.labels[UNTRUSTED]:
            asked = [parsed(call.arguments) for call in reply.message.calls]
            self.trust.remember(reply.message.text, untrusted[0])
            self.trust.remember_all(said_in([reply.reasoning, *asked]), untrusted[0])

    def answered_with(self, value: Json, schema: Json) -> None:
        """A reply was read as a value: only what its schema lets a model choose among is the author's."""
        if untrusted := self.labels[UNTRUSTED]:
            chosen = frozenset(words_of(schema))
            self.trust.remember_all([text for text in texts_in(value) if text not in chosen], untrusted[0])

    def failed(self, scope: ModelCallScope | None, message: str) -> None:
        """The program is about to be told why a call failed, and may stop the execution for it."""
        if isinstance(scope, CallScope) and scope.begun and scope.result.untrusted:
            self.hear(scope.result)
            self.trust.remember_all(said_in(message), scope.result.untrusted[0])

    def streamed(self, sink: Callable[[Sequence[Any]], Awaitable[None]]) -> Any:
        """Takes a reply whose parts the program may have before it has ended: known by how it begins."""
        if not (untrusted := self.labels[UNTRUSTED]):
            return sink
        return noting_the_beginning(sink, lambda text: self.trust.remember(text, untrusted[0]))

    def offers(self, toolbox: Toolbox) -> tuple[ToolOffer, ...]:
        """The tools that a model is shown under `lock`: no sinks any more."""
        if not self.labels[UNTRUSTED]:
            return toolbox.offers
        return tuple(
            [
                tool.offer
                for tool in toolbox.tools.values()
                if not (rule := self.trust.rules.known(tool).rule).sinks or deciding(rule)
            ]
        )

    def branches(self, around: Branch, toolbox: Toolbox, asked: Iterable[ToolCallRequest]) -> list[Branch]:
        """Branches for the calls that the last reply asks for. Each knows its scope, if there is such a tool;
        the label of the reply decides what its model may do."""
        untrusted, secret = self.labels.values()
        if untrusted or secret:
            self.label = Label(tuple(untrusted), tuple(secret))
        found, tools, known = [], toolbox.tools, self.trust.rules.known
        for call in asked:
            branch, tool = around.child(), tools.get(call.name)
            branch.call = None if tool is None else CallScope(self, tool, call.id, branch, known(tool))
            found.append(branch)
        return found

    def record_result(self, scope: ModelCallScope | None, text: str, found: Json) -> None:
        """The model is about to be told a result, `found` as text; one of a call that was not even begun says
        nothing of the world."""
        if not (isinstance(scope, CallScope) and scope.begun):
            return
        told = scope.result
        if not (told.untrusted or scope.known.rule.closed or scope.vouched_for):
            # Program code may have put it where the tool found it.
            told = joined(told, Label(self.trust.origins_in(found)))
        self.hear(told)
        if told.untrusted:
            self.trust.remember(text, told.untrusted[0])
            self.trust.remember_all(said_in(found), told.untrusted[0])
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
            self._outer.meet(Label(*map(tuple, self.labels.values())))

    def hear(self, label: Label) -> None:
        untrusted, secret = self.labels.values()
        for origin in label.untrusted:
            if origin not in untrusted:
                untrusted.append(origin)
        for origin in label.secret:
            if origin not in secret:
                secret.append(origin)


class ProgramTrust:
    """The labels in a program that a model wrote: what it reads holds for all that follows in it."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._label = conversation.label
        self._heard = NOTHING

    def scope(self, tool: BoundTool, call: ToolCallRequest, branch: Branch) -> CallScope:
        """The scope of its next call."""
        known = self._conversation.trust.rules.known(tool)
        scope = CallScope(self._conversation, tool, call.id, branch, known)
        scope.label = self._label
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


class CallScope:
    """One call of a tool by a model, with all that happens in it. Implements the gate's ModelCallScope."""

    _arguments: Mapping[str, Json] = MappingProxyType({})
    _admitted = False
    met = NOTHING
    _used: tuple[object, ...] = ()
    """What lasts that code in the call may write into."""
    begun = False
    """Whether it was tried and not refused. The kind of an error does not say it: others choose that."""

    def __init__(
        self,
        conversation: Conversation,
        tool: BoundTool,
        call_id: str,
        branch: Branch,
        known: KnownTool,
    ) -> None:
        self._conversation = conversation
        self._tool = tool
        self._call_id = call_id
        self._branch = ref(branch)  # It has this scope: together they would stay until both are collected.
        self.known = known
        self.label = conversation.label

    @property
    def vouched_for(self) -> bool:
        """Whether the author says that the result is trusted, whatever was asked."""
        return TRUSTED in self.known.rule.ways

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the untrusted part of what the call writes anywhere came from."""
        return self.label.untrusted or (() if self.vouched_for else self.met.untrusted)

    @property
    def result(self) -> Label:
        """The label of what the call gives."""
        own, met = self.known.label, self.met
        if met is NOTHING or self.known.rule.closed:
            return own
        untrusted = () if self.vouched_for else own.untrusted or met.untrusted
        return Label(untrusted, own.secret or met.secret)

    @property
    def hides_failures(self) -> bool:
        """Whether the text of a failure is another's, though the answers are the author's."""
        return self.begun and self.known.rule.closed

    def begin(self, arguments: Mapping[str, Json]) -> None:
        self._arguments = arguments
        self._admitted = False
        self.begun = True

    def meet(self, label: Label) -> None:
        """Something in the call was told what has such a label."""
        self.met = joined(self.met, label)
        for holder in self._used:
            self._conversation.trust.keep(holder, self.origins)

    def use(self, holder: object) -> None:
        """The call may write what it knows into something that lasts."""
        self._used = (*self._used, holder)

    def admits(self, effect: AnyEffect) -> bool:
        if self.label.untrusted and not self._admitted and self._sinks_of(effect):
            return False
        with_state = self._conversation.trust.rules.with_state
        if with_state and isinstance(effect, ToolCall) and (effect.tool, effect.method) in with_state:
            self._conversation.trust.use_state(self, effect.tool)
        return True

    async def ask_for(self, effect: AnyEffect) -> None:
        sinks = self._sinks_to_guard(effect)
        schema = None if self._tool.foreign else self._tool.offer.parameters
        if sinks and not is_harmless(self.known.rule, self._arguments, self._conversation.trusted, schema):
            if self._conversation.guard == "approve":
                await self._ask(effect, sinks)
            else:
                raise self._refused(effect, sinks, "")
        self._admitted = bool(sinks)
        self.admits(effect)

    def _in_branch(self) -> Branch:
        branch = self._branch()
        assert branch is not None, "the call goes on in it"
        return branch

    def _sinks_of(self, effect: AnyEffect) -> Sequence[str]:
        """In what way an effect acts on the world: the call itself as its rule says, else what the code in it
        does, of which the rule need not know, as where a function is called that a value holds."""
        if is_call_of(self._tool, effect):
            return self.known.rule.sinks
        return self._conversation.trust.rules.sinks_of(effect)

    def _sinks_to_guard(self, effect: AnyEffect) -> list[str]:
        """The ways in which it may do harm. Without a guard the net is one only for a secret."""
        everything = self._conversation.guard or self.label.secret
        return [kind for kind in self._sinks_of(effect) if everything or kind != NET]

    async def _ask(self, effect: AnyEffect, sinks: Sequence[str]) -> None:
        """Have a person decide about exactly this call."""
        payload = {
            "agent": self._conversation.agent,
            "tool": self._tool.title,
            "arguments": dict(self._arguments),
            "call_id": self._call_id,
            "sinks": list(sinks),
            "origins": [origin.strip("`") for origin in self.label.untrusted],
        }
        self._conversation.trust.run.emits.emit(APPROVE, payload)
        try:
            asked = EmitAwait(APPROVE, payload, _YES, approval=True)
            answer = await self._conversation.trust.run.pass_gate(asked, self._in_branch())
        except Raised as raised:
            error = raised.value
            kind = error.kind if isinstance(error, ErrorValue) else ""
            why = "nobody answers" if kind == EmitKind.NO_LISTENER else "there was no answer that counts"
            raise self._refused(effect, sinks, f"{why} on channel `{APPROVE}`") from None
        if answer is not True:
            raise self._refused(effect, sinks, "it was not approved")

    def _refused(self, effect: AnyEffect, sinks: Sequence[str], why: str) -> Raised:
        itself = is_call_of(self._tool, effect)
        self.begun = self.begun and not itself
        tool, guard = self._tool, self._conversation.guard
        title = tool.title if itself else subject_of(effect)
        origins = ", ".join(self.label.untrusted)
        message = (
            f"`{title}` was not called: this conversation holds untrusted text from {origins}, and "
            f"`{title}` acts on the world ({', '.join(sinks)})"
        )
        if why:
            message += f"; {why}"
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
        self._conversation.trust.run.emit_event(Channel.TRUST_BLOCKED, lambda: told)
        self._conversation.trust.run.note("blocked", lambda: told, self._in_branch())
        instead = remedies(self.known.rule)
        return tool_failure(f"{message}. {instead}", ToolKind.BLOCKED, tool.tool, tool.method)

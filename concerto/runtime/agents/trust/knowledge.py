"""What a run knows of its tools, of untrusted texts, and of what keeps some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence, Sized
from functools import cached_property, partial
from typing import TYPE_CHECKING

from greenlet import getcurrent

from concerto.effects.kinds import AnyEffect, Http, subject_of
from concerto.effects.layers.trust import ask_trust
from concerto.json_data import Json
from concerto.natives.hashmap import MISSING, HashMap, KeyWatcher
from concerto.natives.json_text import loads
from concerto.natives.ledger import Ledger
from concerto.natives.memory import Memory
from concerto.runtime.agents.trust.calls import CallScope
from concerto.runtime.agents.trust.conversation import Conversation
from concerto.runtime.agents.trust.labels import (
    SHORTEST,
    Label,
    Planned,
    TrustRules,
    UntrustedTexts,
    as_json,
    texts_in,
)
from concerto.runtime.concurrency.fibers import Fiber
from concerto.runtime.llm.requests import Message
from concerto.trust.defaults import TRUSTED, UNTRUSTED
from concerto.vm.values import ErrorValue, Value

if TYPE_CHECKING:
    from concerto.effects.gate import ModelCallScope, Passage, Perform
    from concerto.runtime.agents.sources import ToolSources
    from concerto.runtime.agents.trust.views import StateUser
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.tools.toolbox import BoundTool


class Trust:
    """What a run knows of its tools, of untrusted texts, and of what keeps some."""

    def __init__(self, rules: TrustRules, run: ToolSources) -> None:
        self.run = run
        self.rules = rules
        self._said: list[str] = [*run.options.args]
        """What persons say to the run."""
        self.texts = UntrustedTexts(self._said)
        self._literal = run.options.manifest.trust.get("prompts") == "literal"
        self._kept: dict[object, tuple[str, ...]] = {}
        """Where the untrusted contents of stores, and of states of tools, came from."""

    def begin(
        self,
        plan: Planned,
        messages: Sequence[Message],
        branch: Branch,
        before: Sequence[Message],
        origins: Sequence[str],
    ) -> Conversation:
        """The conversation of an execution; among its first messages are those of `before`, in which what is
        untrusted came from `origins`."""
        conversation = Conversation(self, plan.agent, branch.call)
        plan.maps.on_made = self._watch
        lasts = origins or plan.memory is not None or plan.maps.given
        if lasts and self._hear_kept(conversation, plan, origins):
            known = set(map(id, before))
            messages = [message for message in messages if id(message) not in known]
        texts = self.texts
        anything = texts.new or texts.known or self._literal or branch.call
        called: dict[str, str] = {}
        for message in messages:
            role = message.role
            if not anything and role in ("user", "system"):  # Nothing is known that could be in it.
                conversation.trusted.append(message.text)
                continue
            tool = None
            if message.calls:
                called |= {call.id: call.name for call in message.calls}
            elif role == "tool":
                tool = plan.toolbox.tools.get(message.name or called.get(message.call_id, ""))
            conversation.begin_with(message, tool)
        return conversation

    def _hear_kept(self, conversation: Conversation, plan: Planned, origins: Sequence[str]) -> bool:
        """Hear what lasts; whether that is known of the history."""
        for shared in (*plan.maps.given, plan.memory):
            if shared is not None and (kept := self.kept_in(self._watch(shared))):
                conversation.hear(Label(kept))
        said = self.kept_in(plan.memory, origins)
        if said:
            conversation.hear(Label(said))
        return bool(said)

    @cached_property
    def _watched(self) -> set[object]:
        """The stores of hashmaps that tell of their changes."""
        return set()

    def layer(self) -> Callable[[Passage, Perform], Awaitable[Value]]:
        """What asks it at the gate."""
        return partial(ask_trust, self.rules.bring_in, self.hear_outside)

    def remember(self, text: str, origin: str) -> None:
        """Keep in mind that a text is untrusted, wherever the program puts it."""
        self.texts.new.append(((text,), (origin,)))

    def origins_in(self, value: Json) -> tuple[str, ...]:
        """Where an untrusted text in JSON came from that a program has put there, as far as can be seen."""
        if not self.texts.origins:
            return ()
        found = dict.fromkeys(map(self.texts.origin_in, texts_in(value)))
        return tuple([origin for origin in found if origin is not None])

    def remember_all(self, texts: Iterable[str], origin: str) -> None:
        self.texts.new.append(([*texts], (origin,)))

    def given(self, answer: Json) -> None:
        """A person has said something."""
        self._said += texts_in(answer)

    def origin_of(self, message: Message) -> str | None:
        """Where a text of the program has its untrusted part from, as far as that can be seen."""
        texts = self.texts
        if not (texts.origins or self._literal):
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
        self.texts, self._kept = earlier.texts, earlier._kept

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
            heard = self.texts.heard
            return (heard,) if self._literal and heard else ()
        return scope.origins

    def origins_of(self, changes: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
        """The same of what it writes into a file, which it may have been told before."""
        return self.origins_here() or self.origins_in([loads(text) for _, text in changes if text])

    def use_state(self, scope: StateUser, tool: str) -> None:
        """A method of a declared tool runs in a call of a model, with the state that its tool has."""
        holder = ("tool", tool)
        kept = self._kept.get(holder, ())
        if self._literal and self.texts.heard and not kept:
            kept = (self.texts.heard,)  # Program code may have called it.
        scope.use(holder)
        if kept:
            scope.meet(Label(kept))
        elif origins := scope.origins:
            self.keep(holder, origins)

    def hear_outside(self, effect: AnyEffect, found: Value, call: ModelCallScope | None) -> None:
        """Program code has asked somebody, by itself or in a call of a model, and was told this, or failed
        so."""
        rule, origin = self.rules.rule_of_call(effect), f"`{subject_of(effect)}`"
        if isinstance(effect, Http):
            origin, found = "`http`", found["body"] if isinstance(found, dict) else found
        told = found.message if isinstance(found, ErrorValue) else as_json(found)
        if rule is not None and TRUSTED in rule.ways:
            self.texts.drop(texts_in(told))
        elif rule is None or not rule.closed or isinstance(found, ErrorValue):
            self.hear_kept(told, (origin,), call)

    def hear_kept(self, found: Json, origins: Sequence[str], call: ModelCallScope | None = None) -> None:
        """Program code, maybe in a call of a model, is told what came from there, now or before."""
        if not origins:
            return
        self.texts.hear(origins[0])
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

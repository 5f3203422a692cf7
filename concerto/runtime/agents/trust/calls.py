"""The calls of tools that a model decided on, and what each may do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import ref

from concerto.effects.error_kinds import EmitKind, ToolKind
from concerto.effects.kinds import AnswerType, AnyEffect, EmitAwait, ToolCall, subject_of
from concerto.json_data import Json
from concerto.runtime.agents.trust.labels import NOTHING, KnownTool, Label, is_call_of, joined, remedies
from concerto.runtime.io.channels import Channel
from concerto.runtime.run.agent_failures import tool_failure
from concerto.trust.defaults import NET, TRUSTED
from concerto.trust.matching import is_harmless
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.agents.trust.views import Told
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.tools.toolbox import BoundTool

APPROVE = "approve"
"""The channel on which approvals are asked for."""
_YES = AnswerType("Bool", lambda answer: isinstance(answer, bool), {"type": "boolean"})


class CallScope:
    """One call of a tool by a model, with all that happens in it. Implements the gate's ModelCallScope.
    Nothing in this one needs asking: no untrusted text has brought it."""

    harmless = True
    _met = NOTHING
    _used: tuple[object, ...] = ()
    """What lasts that code in the call may write into."""
    begun = True
    """Whether it was tried and not refused. The kind of an error does not say it: others choose that."""

    def __init__(self, known: KnownTool, label: Label) -> None:
        self.known = known
        self.label = label
        """of the reply that brought it"""
        self.result = known.label
        """of what the call gives"""

    @property
    def vouched_for(self) -> bool:
        """Whether the author says that the result is trusted, whatever was asked."""
        return TRUSTED in self.known.rule.ways

    @property
    def origins(self) -> tuple[str, ...]:
        """Where the untrusted part of what the call writes anywhere came from."""
        return self.label.untrusted or (() if self.vouched_for else self._met.untrusted)

    @property
    def hides_failures(self) -> bool:
        """Whether the text of a failure is another's, though the answers are the author's."""
        return self.begun and self.known.rule.closed

    def begin(self, arguments: Mapping[str, Json]) -> None:
        pass

    def meet(self, label: Label) -> None:
        """Something in the call was told what has such a label."""
        self._met = joined(self._met, label)
        if not self.known.rule.closed:
            own, met = self.known.label, self._met
            untrusted = () if self.vouched_for else own.untrusted or met.untrusted
            self.result = Label(untrusted, own.secret or met.secret)

    def use(self, holder: object) -> None:
        """The call may write what it knows into something that lasts."""
        self._used = (*self._used, holder)

    def admits(self, effect: AnyEffect) -> bool:
        return True

    async def ask_for(self, effect: AnyEffect) -> None:
        pass


class GuardedCall(CallScope):
    """A call that untrusted text may have brought, one of what acts on the world, or one in a program whose
    tools have state."""

    _admitted = False

    def __init__(
        self,
        conversation: Told,
        known: KnownTool,
        label: Label,
        tool: BoundTool,
        call_id: str,
        branch: Branch,
        arguments: Mapping[str, Json],
    ) -> None:
        # All that `CallScope` has, without a call of its own for it.
        self.known = known
        self.label = label
        self.result = known.label
        self.harmless = known.harmless
        self._conversation = conversation
        self._tool = tool
        self._call_id = call_id
        self._arguments = arguments
        self._branch = ref(branch)  # It has this scope: together they would stay until both are collected.

    def begin(self, arguments: Mapping[str, Json]) -> None:
        self._arguments = arguments
        self._admitted = False
        self.begun = True

    def meet(self, label: Label) -> None:
        super().meet(label)
        for holder in self._used:
            self._conversation.trust.keep(holder, self.origins)

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

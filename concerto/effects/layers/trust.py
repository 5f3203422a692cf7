"""Trust: whether a call that a model decided on may be done after what the model was told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from concerto.effects.gate import Layer, ModelCallScope, Passage, Perform
from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall, ToolCall
from concerto.vm.values import Value

_CONCERNED = (ToolCall, McpCall, HostCall, Http)


def trust_layer(hear: Callable[[AnyEffect, Value], None]) -> Layer:
    """Asks the call that an effect belongs to; what program code does by itself belongs to none, and `hear`
    is told what that brings in."""

    def trust(passage: Passage, inner: Perform) -> Awaitable[Value]:
        call = passage.call
        if call is None:
            return hearing(passage, inner)
        return inner(passage) if call.admits(passage.effect) else asking(call, passage, inner)

    async def asking(call: ModelCallScope, passage: Passage, inner: Perform) -> Value:
        await call.ask_for(passage.effect)
        return await inner(passage)

    async def hearing(passage: Passage, inner: Perform) -> Value:
        found = await inner(passage)
        hear(passage.effect, found)
        return found

    return Layer(lambda effect, policy: isinstance(effect, _CONCERNED), trust)

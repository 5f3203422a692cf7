"""Trust: whether a call that a model decided on may be done after what the model was told."""

from __future__ import annotations

from collections.abc import Callable

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall, ToolCall
from concerto.vm.values import Value


def trust_layer(hear: Callable[[AnyEffect, Value], None]) -> Layer:
    """Asks the call that an effect belongs to; what program code does by itself belongs to none, and `hear`
    is told what that brings in."""

    async def trust(passage: Passage, inner: Perform) -> Value:
        if passage.call is not None:
            await passage.call.admit(passage.effect)
            return await inner(passage)
        found = await inner(passage)
        hear(passage.effect, found)
        return found

    return Layer(lambda effect, policy: isinstance(effect, ToolCall | McpCall | HostCall | Http), trust)

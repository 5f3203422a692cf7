"""Trust: whether a call that a model decided on may be done after what the model was told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from concerto.effects.gate import ModelCallScope, Passage, Perform
from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall, ToolCall
from concerto.vm.values import Raised, Value

BringsIn: TypeAlias = Callable[[AnyEffect], bool]
"""Whether program code may bring in something untrusted by an effect."""
Hear: TypeAlias = Callable[[AnyEffect, Value, ModelCallScope | None], None]
"""Is told what that was, or with what it failed, and the call of a model that it belongs to."""

_OUTSIDE = (ToolCall, McpCall, HostCall, Http)


def ask_trust(brings_in: BringsIn, hear: Hear, passage: Passage, inner: Perform) -> Awaitable[Value]:
    """Asks the call that an effect belongs to; what program code does by itself belongs to none. Not a layer
    of its own: what needs no permission does nothing that trust is about."""
    call = passage.call
    effect = passage.effect
    if isinstance(effect, ToolCall) and effect.call_id:  # It is that call, whose conversation hears of it.
        if call is not None and call.harmless:
            return inner(passage)
    elif isinstance(effect, _OUTSIDE) and brings_in(effect):
        inner = partial(_hearing, hear, inner)
    return inner(passage) if call is None or call.admits(effect) else _asking(call, passage, inner)


async def _asking(call: ModelCallScope, passage: Passage, inner: Perform) -> Value:
    await call.ask_for(passage.effect)
    return await inner(passage)


async def _hearing(hear: Hear, inner: Perform, passage: Passage) -> Value:
    try:
        found = await inner(passage)
    except Raised as raised:
        hear(passage.effect, raised.value, passage.call)
        raise
    hear(passage.effect, found, passage.call)
    return found

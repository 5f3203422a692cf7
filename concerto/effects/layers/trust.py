"""Trust: whether a call that a model decided on may be done after what the model was told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from concerto.effects.gate import ModelCallScope, Passage, Perform
from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall, ToolCall
from concerto.vm.values import Raised, Value

Hear: TypeAlias = Callable[[AnyEffect, Value], None]
"""Is told what program code by itself brings in from outside, or with what that failed."""

_OUTSIDE = (McpCall, HostCall, Http, ToolCall)


def ask_trust(hear: Hear) -> Callable[[Passage, Perform], Awaitable[Value]]:
    """Asks the call that an effect belongs to; what program code does by itself belongs to none. Not a layer
    of its own: what needs no permission does nothing that trust is about."""
    return partial(_trust, hear)


def _trust(hear: Hear, passage: Passage, inner: Perform) -> Awaitable[Value]:
    call = passage.call
    if call is None:
        return _hearing(hear, passage, inner) if isinstance(passage.effect, _OUTSIDE) else inner(passage)
    return inner(passage) if call.admits(passage.effect) else _asking(call, passage, inner)


async def _asking(call: ModelCallScope, passage: Passage, inner: Perform) -> Value:
    await call.ask_for(passage.effect)
    return await inner(passage)


async def _hearing(hear: Hear, passage: Passage, inner: Perform) -> Value:
    try:
        found = await inner(passage)
    except Raised as raised:
        hear(passage.effect, raised.value)
        raise
    hear(passage.effect, found)
    return found

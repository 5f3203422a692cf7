"""Trust: whether a call that a model decided on may be done after what the model was told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeAlias

from concerto.effects.gate import ModelCallScope, Passage, Perform
from concerto.effects.kinds import AnyEffect, HostCall, Http, McpCall
from concerto.vm.values import Value

Hear: TypeAlias = Callable[[AnyEffect, Value], None]
"""Is told what program code by itself brings in from outside."""

_OUTSIDE = (McpCall, HostCall, Http)


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
    found = await inner(passage)
    hear(passage.effect, found)
    return found

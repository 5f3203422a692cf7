"""Starting: what a call needs is there before its time begins to count; to start has a limit of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import McpCall
from concerto.vm.values import Value

Start: TypeAlias = Callable[[McpCall], Awaitable[None]]
"""Starts the server of a call if it does not run; a ToolError if it cannot be."""


def starting_layer(start: Start) -> Layer:
    async def starting(passage: Passage, inner: Perform) -> Value:
        assert isinstance(passage.effect, McpCall)
        await start(passage.effect)
        return await inner(passage)

    return Layer(lambda effect, policy: policy.timeout is not None and isinstance(effect, McpCall), starting)

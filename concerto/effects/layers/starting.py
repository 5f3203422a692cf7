"""Starting: what a call needs is there before its time begins to count; to start has a limit of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import AnyEffect, McpCall
from concerto.effects.policy import Policy
from concerto.records import replace
from concerto.vm.values import Value

Start: TypeAlias = Callable[[McpCall], Awaitable[McpCall]]
"""Starts the server of a call if it does not run; a ToolError if it cannot be. The call with what the server
says of it."""


def starting_layer(start: Start) -> Layer:
    async def starting(passage: Passage, inner: Perform) -> Value:
        assert isinstance(passage.effect, McpCall)
        return await inner(replace(passage, effect=await start(passage.effect)))

    return Layer(_is_of_server, starting)


def _is_of_server(effect: AnyEffect, policy: Policy) -> bool:
    return isinstance(effect, McpCall)

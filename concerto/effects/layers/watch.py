"""Watch: somebody is told when a call begins and when it has ended, to show what a run is doing."""

from __future__ import annotations

from typing import Protocol

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import AgentRun, AnyEffect, EmitAwait, HostCall, McpCall, ModelCall, ToolCall
from concerto.vm.values import Value


class Watcher(Protocol):
    """Told in the thread of the run, and never in its way."""

    def began(self, effect: AnyEffect) -> None: ...

    def ended(self, effect: AnyEffect, value: Value) -> None:
        """`value` is None if the call failed."""


def watch_layer(watcher: Watcher) -> Layer:
    async def watched(passage: Passage, inner: Perform) -> Value:
        effect, value = passage.effect, None
        watcher.began(effect)
        try:
            value = await inner(passage)
        finally:
            watcher.ended(effect, value)
        return value

    calls = AgentRun | ModelCall | ToolCall | McpCall | HostCall | EmitAwait
    return Layer(lambda effect, policy: isinstance(effect, calls), watched)

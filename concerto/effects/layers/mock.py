"""Mock: an answer from a script instead of the world, for `--mock`, for mock connections and for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import AnyEffect, EmitAwait, HostCall, HostTurn, McpCall, ModelCall
from concerto.effects.policy import Policy
from concerto.vm.values import Value

Answers: TypeAlias = Callable[[AnyEffect], Awaitable[Value] | None]
"""The scripted answer to an effect, or None where the script says nothing."""

_SCRIPTED = (ModelCall, HostTurn, EmitAwait, McpCall, HostCall)


def mock_layer(answers: Answers) -> Layer:
    def mock(passage: Passage, inner: Perform) -> Awaitable[Value]:
        return answers(passage.effect) or inner(passage)

    return Layer(_is_scripted, mock)


def _is_scripted(effect: AnyEffect, policy: Policy) -> bool:
    return isinstance(effect, _SCRIPTED)

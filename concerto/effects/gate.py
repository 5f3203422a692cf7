"""The gate, a middleware chain: the one door between a program and the world.

A gate is a plain ordered list of layers around a performer. Every effect passes all layers, from the first
to the performer and back; each layer may refuse, answer, repeat or watch it. Nothing reaches the world in
another way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Protocol, TypeAlias

from concerto.effects.identity import Identity
from concerto.effects.kinds import AnyEffect, policy_of
from concerto.effects.policy import NO_POLICY, Policy
from concerto.json_data import Json
from concerto.records import frozen
from concerto.vm.values import Value


class ModelCallScope(Protocol):
    """The call of a tool that a model decided on, in which an effect happens. One that is `harmless` needs no
    asking itself."""

    harmless: bool

    def begin(self, arguments: Mapping[str, Json]) -> None:
        """The call is tried with these arguments, for the first time or again."""

    def admits(self, effect: AnyEffect) -> bool:
        """Whether it needs no asking."""

    async def ask_for(self, effect: AnyEffect) -> None:
        """Raises a ToolError if the call may not be done after what the model was told."""


@frozen
class Passage:
    """An effect on its way through the gate; `call` is the one of a model that it belongs to, where that
    matters, and `place` gives where in the source it comes from, where that is asked. `after` counts the
    branches that its own had begun before."""

    effect: AnyEffect
    identity: Identity
    call: ModelCallScope | None = None
    place: Callable[[], str] | None = None
    after: int = 0

    @property
    def policy(self) -> Policy:
        return policy_of(self.effect)


Perform: TypeAlias = Callable[[Passage], Awaitable[Value]]


@frozen
class Layer:
    """One idea around effects. Those that it does not concern pass by without entering it; none without a
    policy concerns one that goes by it."""

    concerns: Callable[[AnyEffect, Policy], bool]
    enter: Callable[[Passage, Perform], Awaitable[Value]]
    by_policy: bool = False


class Signal(Protocol):
    """What some wait for and somebody gives, once."""

    async def wait(self) -> object: ...

    def set(self) -> None: ...


class Waiter(Protocol):
    """How layers wait and tell the time; the runtime's event loop."""

    def line(self) -> AbstractAsyncContextManager[object]:
        """What one at a time is in, in the order in which they came; who gives up leaves it."""

    def signal(self) -> Signal: ...

    async def sleep(self, seconds: float) -> None: ...

    async def within(self, seconds: float, work: Awaitable[Value]) -> Value:
        """The value of `work`, which is cancelled and TimeoutError raised if it takes longer."""

    def now(self) -> float: ...


def gate(layers: Sequence[Layer], perform: Perform) -> Perform:
    """The way through all layers, the first outermost."""
    inwards = tuple(reversed(layers))
    without_policy = tuple([layer for layer in inwards if not layer.by_policy])

    def enter(passage: Passage) -> Awaitable[Value]:
        effect, way = passage.effect, perform
        policy = passage.policy
        for layer in without_policy if policy is NO_POLICY else inwards:
            if layer.concerns(effect, policy):
                way = partial(_into, layer, way)
        return way(passage)

    return enter


def _into(layer: Layer, inner: Perform, passage: Passage) -> Awaitable[Value]:
    return layer.enter(passage, inner)

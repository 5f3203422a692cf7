"""The gate: the one door between a program and the world.

A gate is a plain ordered list of layers around a performer. Every effect passes all layers, from the first
to the performer and back; each layer may refuse, answer, repeat or watch it. Nothing reaches the world in
another way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias

from concerto.effects.kinds import AnyEffect
from concerto.vm.values import Value


@dataclass(frozen=True, slots=True)
class Identity:
    """An effect's stable name inside a run: the numbers of the branches that lead to it, and its own."""

    path: tuple[int, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Passage:
    """An effect on its way through the gate."""

    effect: AnyEffect
    identity: Identity


Perform: TypeAlias = Callable[[Passage], Awaitable[Value]]
Layer: TypeAlias = Callable[[Passage, Perform], Awaitable[Value]]


class Waiting(Protocol):
    """How layers wait and tell the time; the runtime's event loop."""

    async def sleep(self, seconds: float) -> None: ...

    async def within(self, seconds: float, work: Awaitable[Value]) -> Value:
        """The value of `work`, which is cancelled and TimeoutError raised if it takes longer."""

    def now(self) -> float: ...


def gate(layers: Sequence[Layer], perform: Perform) -> Perform:
    """The way through all layers, the first outermost."""
    way = perform
    for layer in reversed(layers):
        way = partial(_enter, layer, way)
    return way


def _enter(layer: Layer, inner: Perform, passage: Passage) -> Awaitable[Value]:
    return layer(passage, inner)

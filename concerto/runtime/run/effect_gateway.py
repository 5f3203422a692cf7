"""The way of a run's effects: through the layers of the gate to the performer, and back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from concerto.effects.gate import Passage, gate
from concerto.effects.kinds import AnyEffect, StageRun, ToolCall
from concerto.effects.layers import standard_layers
from concerto.effects.layers.journal import journal_layer
from concerto.effects.layers.watch import watch_layer
from concerto.effects.policy import NO_POLICY
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.run.perform import Performer
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.parts import Parts


class Door:
    """The only way out of a run."""

    def __init__(self, run: Parts) -> None:
        layers = standard_layers(
            run.permissions,
            run.waiting,
            run.emits.emit,
            run.mocks.answer,
            lambda: run.costs,
            lambda effect: run.mcp.start(effect),
            run.trace,
        )
        if run.journal is not None:
            layers.append(journal_layer(run.journal))
        if run.options.watcher is not None:
            layers.insert(0, watch_layer(run.options.watcher))
        self._way = gate(layers, Performer(run).perform)

    def way(self, effect: AnyEffect, branch: Branch) -> Callable[[], Awaitable[Value]]:
        """What does an effect, as the next one of a branch."""
        return partial(self._way, Passage(effect, branch.identity()))

    def at_once(self, effect: AnyEffect) -> bool:
        """Whether doing it waits for nobody, so that it needs no event loop."""
        in_place = isinstance(effect, ToolCall | StageRun) and effect.policy is NO_POLICY
        return effect.immediate or in_place

"""The services of a run for its parts: protocols, so that no part knows the run itself.

A part asks for what it needs; `Run` is all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from concerto.json_data import Json

if TYPE_CHECKING:
    import asyncio

    from concerto.effects.identity import Identity
    from concerto.effects.kinds import AnyEffect
    from concerto.effects.meters import Meter
    from concerto.effects.permissions import Permissions
    from concerto.effects.trace import Trace
    from concerto.ir.module import Agent, ModuleIR, Tool
    from concerto.journal.journal import Journal
    from concerto.natives.memory import Memory
    from concerto.runtime.concurrency.fibers import Branch
    from concerto.runtime.concurrency.waiting import LoopWaiting
    from concerto.runtime.concurrency.waits import WaitGraph
    from concerto.runtime.io.channels import Channel
    from concerto.runtime.io.emits import Emits
    from concerto.runtime.llm.connections import Connection
    from concerto.runtime.run.options import ResolvedOptions
    from concerto.vm.machine import Machine
    from concerto.vm.values import Struct, Value


class Gate(Protocol):
    """The way of effects out of a run."""

    def perform(self, effect: AnyEffect) -> Value:
        """Do an effect from program code, as the next one of its branch."""

    async def pass_gate(self, effect: AnyEffect, branch: Branch) -> Value:
        """Do an effect from the event loop, as the next one of a branch."""


class Events(Protocol):
    """What is said of a run, and with which options."""

    options: ResolvedOptions
    emits: Emits

    def emit_event(self, channel: Channel, make: Callable[[], dict[str, Value]]) -> None:
        """Emit an event of the runtime."""


class Origins(Protocol):
    """Where untrusted texts came from, as far as those know it who keep some."""

    def keep(self, holder: object, origins: Iterable[str]) -> None:
        """Something that lasts holds what came from there."""

    def origins_here(self) -> tuple[str, ...]:
        """Where the untrusted part of what program code writes now came from."""

    def hear_kept(self, found: Json, origins: Sequence[str]) -> None:
        """Program code is told what came from there before."""

    def hear_host(self, name: str, message: Json, branch: Branch) -> tuple[str, ...]:
        """A process says something to the program: where what is untrusted in it came from."""

    def kept_in(self, holder: object) -> tuple[str, ...]:
        """Where the untrusted contents of something that lasts came from."""


class Carried(Protocol):
    """The states that a run was given by one before it."""

    def tool(self, tool: Tool, first: Struct) -> Struct:
        """The state of a tool, which begins with `first` where nothing else was carried."""

    def fill(self, kind: str, name: str, type_: int, state: Value) -> None:
        """Put into a declared state, which is empty, what was carried."""


class RunServices(Gate, Events, Protocol):
    """What every part of a run may use."""

    module: ModuleIR
    machine: Machine
    permissions: Permissions
    waiting: LoopWaiting
    spent: Meter
    agents: dict[str, Agent]
    trace: Trace | None

    @property
    def id(self) -> str:
        """The id of the run."""

    @property
    def journal(self) -> Journal | None:
        """What is written down of the run's effects, if it is to be kept."""

    def root(self) -> Branch:
        """The branch of program code that nothing else has begun."""

    @property
    def trust(self) -> Origins | None:
        """What tools bring in and do, where that is looked after."""

    @property
    def carried(self) -> Carried | None:
        """The states that an earlier run has left to this one."""

    @property
    def waits(self) -> WaitGraph:
        """Who waits for whom."""

    def connection(self, name: str) -> Connection:
        """A model server as the program, the manifest and the options describe it."""

    def memory(self, name: str | None) -> Memory | None:
        """A declared memory, None for None."""

    def supervise(self, task: asyncio.Task[Any]) -> None:
        """Let a task end with the run at the latest, and the run with what no `catch` may see."""

    def machine_value(self, data: Any) -> Value:
        """What Python code gave, as a value of the program; a failure if it has no JSON form."""

    def note(
        self, kind: str, make: Callable[[], dict[str, Any]], of: Identity | Branch | None = None
    ) -> None:
        """Tell the trace, if there is one, what happened during an effect that is under way, or in a
        branch."""

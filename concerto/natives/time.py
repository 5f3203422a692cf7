"""`std::time`: the clock, waiting and measuring."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from concerto.effects.kinds import Clock, Sleep
from concerto.natives import limits
from concerto.vm.native import native
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::time::now", machine=True)
def now(machine: Machine) -> str:
    moment = datetime.fromtimestamp(machine.host.perform(Clock()), UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@native("std::time::now_ms", machine=True)
def now_ms(machine: Machine) -> int:
    return int(machine.host.perform(Clock()) * 1000)


@native("std::time::sleep", machine=True)
def sleep(machine: Machine, milliseconds: int) -> None:
    machine.host.perform(Sleep(limits.count(milliseconds, "a time to sleep") / 1000))


@native("std::time::measure", machine=True)
def measure(machine: Machine, work: Callable[[], Value]) -> tuple[Value, int]:
    begun = machine.host.perform(Clock("monotonic"))
    result = work()
    return result, int((machine.host.perform(Clock("monotonic")) - begun) * 1000)

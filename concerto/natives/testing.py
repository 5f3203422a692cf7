"""Test doubles: `mock …`, what stands for an agent, a server or a channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.vm.native import native
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::testing::mock", machine=True)
def mock(machine: Machine, target: Value, fields: dict[str, Value]) -> None:
    """`target` is a handle, or a String for a channel."""
    machine.host.mock(target, fields)

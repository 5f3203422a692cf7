"""`std::log`: lines on the error stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.vm.native import native
from concerto.vm.operations import to_text
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


def _register(level: str) -> None:
    @native(f"std::log::{level}", machine=True)
    def log(machine: Machine, message: Value) -> None:
        machine.host.log(level, to_text(message))


for _level in ("debug", "info", "warn", "error"):
    _register(_level)

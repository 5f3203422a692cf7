"""`std::env`: the variables of the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.kinds import Env
from concerto.natives.errors import make_error
from concerto.vm.native import native
from concerto.vm.values import NONE, Err, Ok, Some, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::env::get", machine=True)
def get(machine: Machine, name: str) -> Value:
    value = machine.host.perform(Env(name))
    return NONE if value is None else Some(value)


@native("std::env::require", machine=True)
def require(machine: Machine, name: str) -> Value:
    value = machine.host.perform(Env(name))
    if value is None:
        message = f"the environment variable `{name}` is not set"
        return Err(make_error("EnvError", message, "NotSet", name=name))
    return Ok(value)


@native("std::env::has", machine=True)
def has(machine: Machine, name: str) -> bool:
    return machine.host.perform(Env(name)) is not None


@native("std::env::all", machine=True)
def every(machine: Machine) -> Value:
    return dict(machine.host.perform(Env(None)))

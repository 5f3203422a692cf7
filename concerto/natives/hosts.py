"""`listen`: what the compiler makes of `listen Host.execute(…) { "question" => |q: Q| …, … }`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.vm.native import native
from concerto.vm.values import TypeValue, Value

if TYPE_CHECKING:
    from concerto.vm.machine import Machine


@native("std::hosts::listen", machine=True)
def listen(
    machine: Machine,
    host: Value,
    prompt: str,
    arms: dict[str, tuple[Value, TypeValue | None]],
    wanted: TypeValue | None,
    retry_message: str,
) -> Value:
    """`arms` has the handler of each message with the type that it takes; `_` is that of the rest. `wanted`
    is the type that `execute_with_schema` asks for."""
    return machine.host.call_agent(host, "listen", [prompt, arms, wanted, retry_message])

"""`McpRef`: what MCP servers have besides tools. Bodies ask the server through the gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from concerto.effects.kinds import McpCall
from concerto.json_data import Json
from concerto.natives.agentbuilder import ToolRef
from concerto.natives.memory import message
from concerto.vm.native import native
from concerto.vm.values import Err, ErrorValue, Ok, Raised, Value
from concerto.vocabulary.mcp_requests import MCP_REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from concerto.vm.machine import Machine


@native("McpRef::resources", machine=True)
def resources(machine: Machine, server: ToolRef) -> Value:
    return _asked(machine, server, "resources", {}, _same)


@native("McpRef::resource", machine=True)
def resource(machine: Machine, server: ToolRef, uri: str) -> Value:
    return _asked(machine, server, "resource", {"uri": uri}, lambda part: machine.struct("Part", **part))


@native("McpRef::prompts", machine=True)
def prompts(machine: Machine, server: ToolRef) -> Value:
    return _asked(machine, server, "prompts", {}, _same)


@native("McpRef::prompt", machine=True)
def prompt(machine: Machine, server: ToolRef, name: str, arguments: dict[str, str]) -> Value:
    def made(given: Json) -> Value:
        return message(machine, given["role"], given["content"])

    return _asked(machine, server, "prompt", {"name": name, "arguments": dict(arguments)}, made)


def _same(value: Json) -> Value:
    return value


def _asked(
    machine: Machine, server: ToolRef, method: str, given: dict[str, Json], make: Callable[[Json], Value]
) -> Value:
    """The items that a request of the protocol is answered with."""
    try:
        answer = machine.host.perform(McpCall(server.name, MCP_REQUESTS[method], given, repeatable=True))
    except Raised as raised:
        if isinstance(raised.value, ErrorValue) and raised.value.type_name == "ToolError":
            return Err(raised.value)
        raise
    return Ok([make(item) for item in answer])

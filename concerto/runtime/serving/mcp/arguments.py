"""Calls of functions that are served: texts of a client as values of their parameters."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from concerto.diagnostics.suggestions import did_you_mean, suggest
from concerto.effects.error_kinds import ToolKind
from concerto.ir.module import Served
from concerto.runtime.agents.guarding import as_a_run
from concerto.runtime.concurrency.fibers import Branch, drive
from concerto.runtime.run.agent_failures import message_of, tool_failure
from concerto.runtime.tools.declared_tools import unwrapped
from concerto.vm.trace import render_failure
from concerto.vm.values import Panic, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run
    from concerto.vm.machine import Machine


async def as_a_call(run: Run, name: str, work: Awaitable[Value]) -> Value:
    """As `as_a_run`. A panic ends the call, not the server: whoever serves reads where it was."""
    try:
        return await as_a_run(run, name, work)
    except Panic as panic:
        run.emits.errors.write(render_failure(panic, f"panic: {panic.message}"))
        raise tool_failure(f"panic: {panic.message}", ToolKind.TOOL_FAILED, name) from None


async def call_served(run: Run, served: Served, given: Mapping[str, str], branch: Branch) -> Value:
    """What the function gives; an MCPError if an argument or the function fails."""
    values = _values(run.machine, served, given)
    function = served.method.function
    assert function is not None
    work = drive(branch, lambda: unwrapped(run.machine.call(function, values)))
    try:
        return await as_a_call(run, served.name, work)
    except Raised as raised:
        raise MCPError(INTERNAL_ERROR, message_of(raised.value)) from None


def _values(machine: Machine, served: Served, given: Mapping[str, str]) -> list[Value]:
    parameters = {parameter.name: parameter for parameter in served.method.parameters}
    for name in given.keys() - parameters.keys():
        hint = did_you_mean(suggest(name, parameters), "it takes none" if not parameters else "")
        raise MCPError(INVALID_PARAMS, f"`{served.name}` has no argument `{name}`; {hint}".rstrip("; "))
    values = []
    for name, parameter in parameters.items():
        if name in given:
            data: object = given[name]
        elif parameter.has_default:
            data = parameter.default
        elif name in served.schema["required"]:
            raise MCPError(INVALID_PARAMS, f"`{served.name}` needs the argument `{name}`")
        else:
            data = None
        try:
            values.append(machine.from_json(data, parameter.type, coerce=True))
        except Raised as bad:
            raise MCPError(INVALID_PARAMS, f"argument `{name}`: {message_of(bad.value)}") from None
    return values

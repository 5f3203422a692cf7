"""The bodies of `std::tools`: HttpTool, FileTool and ShellTool, which the library declares without one.

Each is made of plain effects, so the permissions for hosts, files and the shell hold inside them too.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from concerto.effects.kinds import AnyEffect, FileSize, HostCall, Http, ReadFile, Shell, WriteFile
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.run.agent_failures import message_of, tool_failure
from concerto.vm.values import ErrorValue, Raised, Value

if TYPE_CHECKING:
    from concerto.runtime.run.services import Gate

Body: TypeAlias = "Callable[[Gate, HostCall, Branch], Awaitable[Value]]"

_MODULE = "std::tools::"


def library_tool(tool: str, method: str) -> Body | None:
    return _BODIES.get((tool.removeprefix(_MODULE), method))


async def _http_get(run: Gate, call: HostCall, branch: Branch) -> Value:
    given = call.arguments
    return await _do(run, call, branch, Http("GET", given["url"], given.get("headers") or {}))


async def _http_post(run: Gate, call: HostCall, branch: Branch) -> Value:
    given = call.arguments
    headers = {"content-type": "application/json", **(given.get("headers") or {})}
    return await _do(run, call, branch, Http("POST", given["url"], headers, json.dumps(given.get("body"))))


async def _file_read(run: Gate, call: HostCall, branch: Branch) -> Value:
    return await _do(run, call, branch, ReadFile(call.arguments["path"]))


async def _file_write(run: Gate, call: HostCall, branch: Branch) -> Value:
    await _do(run, call, branch, WriteFile(call.arguments["path"], call.arguments["content"]))
    return True


async def _file_exists(run: Gate, call: HostCall, branch: Branch) -> Value:
    return await _do(run, call, branch, FileSize(call.arguments["path"])) is not None


async def _shell_exec(run: Gate, call: HostCall, branch: Branch) -> Value:
    timeout = call.arguments.get("timeout_ms")
    return await _do(
        run, call, branch, Shell(call.arguments["command"], 30_000 if timeout is None else timeout)
    )


_BODIES: dict[tuple[str, str], Body] = {
    ("HttpTool", "get"): _http_get,
    ("HttpTool", "post"): _http_post,
    ("FileTool", "read"): _file_read,
    ("FileTool", "write"): _file_write,
    ("FileTool", "exists"): _file_exists,
    ("ShellTool", "exec"): _shell_exec,
}
LIBRARY_TOOLS = frozenset(tool for tool, _ in _BODIES)


async def _do(run: Gate, call: HostCall, branch: Branch, effect: AnyEffect) -> Value:
    """Do an effect of a tool's body; its failure is the tool's."""
    try:
        return await run.pass_gate(effect, branch)
    except Raised as raised:
        error = raised.value
        kind = error.kind if isinstance(error, ErrorValue) else "Error"
        raise tool_failure(message_of(error), kind, call.tool, call.method) from None

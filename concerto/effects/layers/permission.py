"""Permission: whether the program may do this at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias, assert_never

from concerto.effects.error_kinds import AgentKind, ConnectionKind, FsKind, ToolKind
from concerto.effects.gate import Layer, Passage, Perform
from concerto.effects.kinds import (
    AgentRun,
    AnyEffect,
    Clock,
    EmitAwait,
    Env,
    FileSize,
    HostCall,
    HostTurn,
    Http,
    ListFolder,
    LoadSession,
    LoadStore,
    McpCall,
    McpListing,
    ModelCall,
    Random,
    ReadFile,
    RemoveFile,
    SaveSession,
    SaveStore,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
    WriteFile,
)
from concerto.effects.permissions import Permissions, host_of
from concerto.vm.values import ErrorValue, Raised, Value

Free: TypeAlias = (
    ModelCall | StageRun | EmitAwait | Clock | Random | Env | Sleep | McpListing | LoadSession | SaveSession
)  # fmt: skip
"""Effects that need no permission."""


def permission_layer(
    permissions: Permissions, then: Callable[[Passage, Perform], Awaitable[Value]] | None = None
) -> Layer:
    """`then` goes on with what is permitted, on its way inwards."""

    async def permission(passage: Passage, inner: Perform) -> Value:
        refused = _refusal(permissions, passage.effect)
        if refused is not None:
            raise Raised(refused)
        return await (inner(passage) if then is None else then(passage, inner))

    # What rules of tools alone forbid passes by where there are none.
    free = Free if permissions.tools else Free | AgentRun
    return Layer(lambda effect, policy: not isinstance(effect, free), permission)


def denied(tool: str, method: str) -> ErrorValue:
    """The error of a call to a tool that is not permitted."""
    return ErrorValue(
        "ToolError",
        f"`{tool}::{method}` is not permitted in this run",
        ToolKind.PERMISSION_DENIED.value,
        tool=tool,
        method=method,
    )


def _refusal(permissions: Permissions, effect: AnyEffect) -> ErrorValue | None:
    if isinstance(effect, Free):
        return None
    match effect:
        case ToolCall(tool=tool, method=method) | HostCall(tool=tool, method=method):
            return None if permissions.allows(tool, method) else denied(tool, method)
        case McpCall(server=server, function=function):
            return None if permissions.allows(server, function) else denied(server, function)
        case AgentRun(agent=name) | HostTurn(host=name):
            return None if permissions.allows(name, "execute") else _denied_agent(name)
        case Shell():
            return None if permissions.allows("ShellTool", "exec") else denied("ShellTool", "exec")
        case Http(url=url):
            return None if permissions.allows_url(url) else _denied_url(url)
        case ReadFile(path=path) | ListFolder(path=path) | FileSize(path=path):
            return None if permissions.place(path) is not None else _denied_path(permissions, path)
        case WriteFile(path=path) | RemoveFile(path=path) | LoadStore(path=path) | SaveStore(path=path):
            allowed = permissions.place(path, writing=True) is not None
            return None if allowed else _denied_path(permissions, path)
        case _:
            assert_never(effect)


def _denied_agent(name: str) -> ErrorValue:
    return ErrorValue(
        "AgentError",
        f"`{name}` is not permitted in this run",
        AgentKind.PERMISSION_DENIED.value,
        agent=name,
    )


def _denied_url(url: str) -> ErrorValue:
    host = host_of(url)
    if host is None:
        message = f"`{url}` is no web address: it is to begin with `http://host` or `https://host`"
        return ErrorValue("ConnectionError", message, ConnectionKind.INVALID_URL.value)
    message = (
        f"host `{host[0]}` is not on the allow list; "
        f'add `http = ["{host[0]}"]` to [permissions] in Concerto.toml'
    )
    return ErrorValue("ConnectionError", message, ConnectionKind.PERMISSION_DENIED.value)


def _denied_path(permissions: Permissions, path: str) -> ErrorValue:
    message = f"`{path}` is outside of the folders this run may use"
    if permissions.protects(path):
        message = f"`{path}` is protected; who wants it used names it in `files` of [permissions]"
    return ErrorValue("FsError", message, FsKind.PERMISSION_DENIED.value, path=path)

"""Permission: whether the program may do this at all."""

from __future__ import annotations

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
    LoadStore,
    McpCall,
    ModelCall,
    Random,
    ReadFile,
    RemoveFile,
    SaveStore,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
    WriteFile,
)
from concerto.effects.permissions import Permissions, host_of
from concerto.vm.values import ErrorValue, Raised, Value

_FREE = (ModelCall, AgentRun, StageRun, EmitAwait, Clock, Random, Env, Sleep)
"""Effects that need no permission."""


def permission_layer(permissions: Permissions) -> Layer:
    async def permission(passage: Passage, inner: Perform) -> Value:
        refused = _refusal(permissions, passage.effect)
        if refused is not None:
            raise Raised(refused)
        return await inner(passage)

    return Layer(lambda effect, policy: not isinstance(effect, _FREE), permission)


def denied(tool: str, method: str) -> ErrorValue:
    """The error of a call to a tool that is not permitted."""
    return ErrorValue(
        "ToolError",
        f"`{tool}::{method}` is not permitted in this run",
        "PermissionDenied",
        tool=tool,
        method=method,
    )


def _refusal(permissions: Permissions, effect: AnyEffect) -> ErrorValue | None:
    match effect:
        case ToolCall() | HostCall():
            return (
                None if permissions.allows(effect.tool, effect.method) else denied(effect.tool, effect.method)
            )
        case McpCall():
            return (
                None
                if permissions.allows(effect.server, effect.function)
                else denied(effect.server, effect.function)
            )
        case HostTurn(host=name):
            if permissions.allows(name, "execute"):
                return None
            message = f"host `{name}` is not permitted in this run"
            return ErrorValue("AgentError", message, "PermissionDenied", agent=name)
        case Shell():
            return None if permissions.allows("ShellTool", "exec") else denied("ShellTool", "exec")
        case Http(url=url):
            if permissions.allows_url(url):
                return None
            host = host_of(url)
            if host is None:
                message = f"`{url}` is no web address: it is to begin with `http://host` or `https://host`"
                return ErrorValue("ConnectionError", message, "InvalidUrl")
            return ErrorValue(
                "ConnectionError",
                f"host `{host[0]}` is not on the allow list; "
                f'add `http = ["{host[0]}"]` to [permissions] in Concerto.toml',
                "PermissionDenied",
            )
        case (
            ReadFile(path=path)
            | WriteFile(path=path)
            | ListFolder(path=path)
            | RemoveFile(path=path)
            | FileSize(path=path)
            | LoadStore(path=path)
            | SaveStore(path=path)
        ):
            if permissions.place(path) is not None:
                return None
            return ErrorValue(
                "FsError",
                f"`{path}` is outside of the folders this run may use",
                "PermissionDenied",
                path=path,
            )
        case _:
            return None

"""Crash recovery policy: what becomes of an effect that was under way when its process ended."""

from __future__ import annotations

from typing import Literal, TypeAlias

from concerto.effects.kinds import (
    SAFE_METHODS,
    AgentRun,
    AnyEffect,
    Clock,
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
    SaveSession,
    Sleep,
    StageRun,
    ToolCall,
)

Redo: TypeAlias = Literal["redo", "repeat", "once", "inside"]
"""`redo`: done again, as if it had not been. `repeat`: done again, as another attempt. `once`: not without
somebody's decision. `inside`: made of other effects, which say it for themselves."""


def is_shown(effect: AnyEffect) -> bool:
    """Whether an effect that is made of others is written down too, for people: executions of agents, stages,
    and calls of tools that a model decided on or that `@log` tells of."""
    return isinstance(effect, AgentRun | StageRun) or (
        isinstance(effect, ToolCall) and (effect.origin == "model" or effect.policy.log is not None)
    )


def redo_of(effect: AnyEffect) -> Redo:
    match effect:
        case AgentRun() | StageRun():
            return "inside"
        case ToolCall() if not effect.outside:
            return "inside"
        case HostCall() if effect.by_library:
            return "inside"
        case McpListing():
            return "redo"
        case Clock() | Random() | Env() | ReadFile() | ListFolder() | FileSize() | LoadStore() | Sleep():
            return "redo"
        case LoadSession():
            return "redo"
        case ModelCall() | SaveSession():  # A turn has a key, by which it is added once.
            return "repeat"
        case Http():
            return "repeat" if effect.method.upper() in SAFE_METHODS else "once"
        case ToolCall() | McpCall() | HostTurn():
            return "repeat" if effect.repeatable else "once"
        case HostCall():
            return "repeat" if effect.policy.repeatable else "once"
        case _:
            return "once"

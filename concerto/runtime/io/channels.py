"""The channels on which the runtime itself emits. What each payload holds stands in
`docs/pages/guides/events.md`.
"""

from __future__ import annotations

from enum import StrEnum


class Channel(StrEnum):
    """A channel by its name in programs; `--quiet` hides those of agents and pipelines."""

    AGENT_START = "agent:start"
    AGENT_ITERATION = "agent:iteration"
    AGENT_TOOL_CALL = "agent:tool_call"
    AGENT_TOOL_RESULT = "agent:tool_result"
    AGENT_TOOLS_INJECTED = "agent:tools_injected"
    AGENT_SCHEMA_RETRY = "agent:schema_retry"
    AGENT_REPAIRED = "agent:repaired"
    AGENT_FALLBACK = "agent:fallback"
    AGENT_HANDOFF = "agent:handoff"
    AGENT_COMPLETE = "agent:complete"
    AGENT_ERROR = "agent:error"
    PIPELINE_START = "pipeline:start"
    PIPELINE_STAGE_START = "pipeline:stage_start"
    PIPELINE_STAGE_COMPLETE = "pipeline:stage_complete"
    PIPELINE_ERROR = "pipeline:error"
    PIPELINE_COMPLETE = "pipeline:complete"
    TRUST_BLOCKED = "trust:blocked"
    HOST_UNHANDLED = "host:unhandled"
    PANIC = "panic"

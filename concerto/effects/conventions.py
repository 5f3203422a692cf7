"""Semantic conventions: the one table of the OpenTelemetry span and attributes of each kind of effect.

Names are those of the conventions `VERSION`, the last one that has those for generative AI in the common
registry; what has no name there begins with `concerto.`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from concerto.effects.kinds import (
    AgentRun,
    AnyEffect,
    EmitAwait,
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
    ReadFile,
    RemoveFile,
    SaveSession,
    SaveStore,
    Shell,
    Sleep,
    StageRun,
    ToolCall,
    WriteFile,
    subject_of,
)
from concerto.json_data import Json
from concerto.records import record
from concerto.vm.values import Value
from concerto.vocabulary.providers import PROVIDERS

VERSION = "1.41.0"
"""Of April 2026."""

_PORTS = {"http": 80, "https": 443}

Attributes: TypeAlias = dict[str, Json]


class Key:
    """The attributes."""

    OPERATION = "gen_ai.operation.name"
    CONVERSATION = "gen_ai.conversation.id"
    AGENT = "gen_ai.agent.name"
    WORKFLOW = "gen_ai.workflow.name"
    PROVIDER = "gen_ai.provider.name"
    MODEL = "gen_ai.request.model"
    TEMPERATURE = "gen_ai.request.temperature"
    TOP_P = "gen_ai.request.top_p"
    MAX_TOKENS = "gen_ai.request.max_tokens"
    STOP_SEQUENCES = "gen_ai.request.stop_sequences"
    OUTPUT_TYPE = "gen_ai.output.type"
    RESPONSE_MODEL = "gen_ai.response.model"
    FINISH_REASONS = "gen_ai.response.finish_reasons"
    INPUT_TOKENS = "gen_ai.usage.input_tokens"
    OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
    CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
    TOKEN_TYPE = "gen_ai.token.type"
    TOOL = "gen_ai.tool.name"
    TOOL_TYPE = "gen_ai.tool.type"
    CALL_ID = "gen_ai.tool.call.id"
    SYSTEM_INSTRUCTIONS = "gen_ai.system_instructions"
    INPUT_MESSAGES = "gen_ai.input.messages"
    OUTPUT_MESSAGES = "gen_ai.output.messages"
    TOOL_DEFINITIONS = "gen_ai.tool.definitions"
    TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
    TOOL_RESULT = "gen_ai.tool.call.result"
    MCP_METHOD = "mcp.method.name"
    HTTP_METHOD = "http.request.method"
    HTTP_STATUS = "http.response.status_code"
    URL = "url.full"
    SERVER = "server.address"
    PORT = "server.port"
    ERROR_TYPE = "error.type"
    FILE = "code.file.path"
    LINE = "code.line.number"


class OwnKey:
    """The attributes that the conventions have no name for."""

    EFFECT = "concerto.effect"
    KIND = "concerto.effect.kind"
    SUBJECT = "concerto.effect.subject"
    ATTEMPTS = "concerto.attempts"
    CACHED = "concerto.cached"
    COST = "concerto.cost_usd"
    PROGRAM = "concerto.program"
    STATUS = "concerto.exit_status"
    WAITS = "concerto.waits"


class Metric:
    """The metrics."""

    TOKENS = "gen_ai.client.token.usage"
    DURATION = "gen_ai.client.operation.duration"


TOKEN_BOUNDARIES = tuple(4**power for power in range(14))
DURATION_BOUNDARIES = tuple(0.01 * 2**power for power in range(14))


@record(frozen=True)
class Workflow:
    """A pipeline while it runs: no effect of its own, but what its stages are part of."""

    pipeline: str


Spanned: TypeAlias = AnyEffect | Workflow


@record(frozen=True)
class SpanShape:
    """How the span of a kind of effect begins its name, and whether somebody else answers it. `operation`
    is one of the conventions."""

    name: str
    kind: Literal["client", "internal"] = "internal"
    operation: bool = False


SPANS: Mapping[type[Spanned], SpanShape] = {
    Workflow: SpanShape("invoke_workflow", operation=True),
    AgentRun: SpanShape("invoke_agent", operation=True),
    ModelCall: SpanShape("chat", "client", operation=True),
    ToolCall: SpanShape("execute_tool", operation=True),
    HostCall: SpanShape("execute_tool", operation=True),
    McpCall: SpanShape("execute_tool", "client", operation=True),
    McpListing: SpanShape("tools/list", "client"),
    StageRun: SpanShape("stage"),
    HostTurn: SpanShape("host", "client"),
    Http: SpanShape("http", "client"),
    EmitAwait: SpanShape("ask"),
    Shell: SpanShape("shell"),
    Sleep: SpanShape("sleep"),
    ReadFile: SpanShape("read file"),
    WriteFile: SpanShape("write file"),
    ListFolder: SpanShape("list folder"),
    RemoveFile: SpanShape("remove file"),
    FileSize: SpanShape("file size"),
    LoadStore: SpanShape("load hashmap"),
    SaveStore: SpanShape("save hashmap"),
    LoadSession: SpanShape("load session"),
    SaveSession: SpanShape("save session"),
}
"""Clock, random numbers and environment have no span: they take no time."""


def span_name(effect: Spanned) -> str:
    """What one effect has in common with others like it."""
    shape = SPANS[type(effect)]
    match effect:
        case Workflow():
            return f"{shape.name} {effect.pipeline}"
        case ModelCall():
            return f"{shape.name} {effect.request.model}"
        case Http():
            return effect.method.upper()
        case _:
            subject = subject_of(effect)
            return shape.name if subject == type(effect).__name__ else f"{shape.name} {subject}"


def operation_attributes(effect: Spanned) -> Attributes:
    """What is asked, by the conventions for generative AI; nothing for the kinds that they do not know."""
    shape = SPANS.get(type(effect))
    if shape is None or not shape.operation:
        return {}
    found: Attributes = {Key.OPERATION: shape.name}
    match effect:
        case Workflow():
            found[Key.WORKFLOW] = effect.pipeline
        case AgentRun():
            found[Key.AGENT] = effect.agent
        case ModelCall(request=request):
            asked = {
                Key.AGENT: effect.agent,
                Key.PROVIDER: provider_name(effect.provider),
                Key.MODEL: request.model,
                Key.TEMPERATURE: request.temperature,
                Key.TOP_P: request.top_p,
                Key.MAX_TOKENS: request.max_tokens,
                Key.STOP_SEQUENCES: list(request.stop_sequences) or None,
                Key.OUTPUT_TYPE: None if request.schema is None else "json",
            }
            found |= {name: value for name, value in asked.items() if value is not None}
        case ToolCall() | HostCall() | McpCall():
            found[Key.TOOL] = subject_of(effect)
            found[Key.TOOL_TYPE] = "extension" if isinstance(effect, McpCall) else "function"
            if effect.call_id:
                found[Key.CALL_ID] = effect.call_id
            if isinstance(effect, McpCall):
                found[Key.MCP_METHOD] = "tools/call"
    return found


def other_attributes(effect: Spanned) -> Attributes:
    """What is asked, of the kinds that the conventions for generative AI do not know."""
    if isinstance(effect, Http):
        return {Key.HTTP_METHOD: effect.method.upper(), Key.URL: effect.url, **server_attributes(effect.url)}
    if isinstance(effect, Workflow) or SPANS[type(effect)].operation:
        return {}
    return {OwnKey.SUBJECT: subject_of(effect)}


def result_attributes(effect: Spanned, value: Value) -> Attributes:
    """What came of it."""
    match effect:
        case ModelCall():
            found: Attributes = {
                Key.RESPONSE_MODEL: value.model,
                Key.FINISH_REASONS: [value.stop_reason],
                Key.INPUT_TOKENS: value.tokens_in,
                Key.OUTPUT_TOKENS: value.tokens_out,
            }
            return {**found, Key.CACHED_TOKENS: value.tokens_cached} if value.tokens_cached else found
        case Http():
            return {Key.HTTP_STATUS: value["status"]}
        case _:
            return {}


def server_attributes(url: str) -> Attributes:
    """Name and port of the server of an http or https URL; nothing of what is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return {}
    is_one = parts.scheme in _PORTS and parts.hostname
    return {Key.SERVER: parts.hostname, Key.PORT: port} if is_one else {}


def provider_name(kind: str) -> str:
    """A provider as the conventions call it; a host's connector is its own name."""
    return PROVIDERS[kind].traced_as if kind in PROVIDERS else kind

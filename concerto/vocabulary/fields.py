"""Fields of declarations and keys of their tables in `Concerto.toml`, one row each.

A row says where the field may stand, what its value is, what holds without it, and what it means. What a run
does with a value is the business of whoever reads it (`find_connection`, `read_settings` of `mcp`,
`host_settings`, the planner of agents).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

from concerto.json_data import Json
from concerto.records import record
from concerto.vocabulary.labels import GUARDS
from concerto.vocabulary.providers import PROVIDER_KINDS


class Kind(Enum):
    """Types of values. The text completes "`timeout` of agent `A` is …"."""

    TEXT = "a `String`"
    TEXTS = "an array of strings"
    SWITCH = "`true` or `false`"
    COUNT = "an `Int` above zero"
    WHOLE = "an `Int`, not below zero"
    NUMBER = "a number, not below zero"
    SECONDS = "a number above zero"
    SECRET = '`env("NAME")`'
    TEXT_MAP = "a map of strings"
    ENV_MAP = 'a map of strings or `env("NAME")`'
    STATUSES = "an array of status numbers"
    REASONS = 'an array of status numbers, `"timeout"` and `"connection"`'
    JSON_MAP = "a map of JSON values"
    EFFORT = '`"low"`, `"medium"`, `"high"` or an `Int` above zero'
    REFERENCE = "a name"
    """Of another declaration, a provider or a tool: read by the rules of the declaration."""
    CHOICE = "one of"
    PARTS = "a map"


@record(frozen=True)
class Field:
    """`source` is the type in a declaration of a program, `manifest` that of the key in `Concerto.toml`; None
    where it cannot stand. `default` holds where neither has it; None if that depends on more than the field.
    `choices` are for CHOICE and REFERENCE, `parts` are the rows of PARTS."""

    meaning: str
    source: Kind | None = None
    manifest: Kind | None = None
    default: Json = None
    choices: tuple[str, ...] = ()
    parts: Mapping[str, Field] | None = None
    required: bool = False

    @property
    def expects(self) -> str:
        """What completes "`timeout` is …" of a field in the source."""
        if self.choices:
            return "one of " + ", ".join(f'`"{choice}"`' for choice in self.choices)
        return "" if self.source is None else str(self.source.value)


Rows: TypeAlias = Mapping[str, Field]


def in_source(rows: Rows) -> Rows:
    """The fields that a declaration of a program may have."""
    return {name: row for name, row in rows.items() if row.source is not None}


def _both(meaning: str, kind: Kind, default: Json = None) -> Field:
    return Field(meaning, kind, kind, default)


def _choice(meaning: str, *choices: str, default: str | None = None) -> Field:
    return Field(meaning, Kind.CHOICE, Kind.CHOICE, default, choices)


def _parts(meaning: str, parts: Rows) -> Field:
    return Field(meaning, Kind.PARTS, Kind.PARTS, parts=parts)


RETRY: Final[Rows] = {
    "max_attempts": _both("all attempts, the first included", Kind.COUNT, 3),
    "backoff": _choice(
        "how the pause grows from attempt to attempt", "none", "linear", "exponential", default="exponential"
    ),
    "initial_delay_ms": Field("the first pause, in milliseconds", Kind.NUMBER, Kind.WHOLE, 500),
    "max_delay_ms": Field("the longest pause, in milliseconds", Kind.NUMBER, Kind.WHOLE, 30_000),
    "retry_on": Field(
        "what is tried again: statuses of HTTP, in `Concerto.toml` also `timeout` and `connection`; "
        "without it 408, 409, 429, 5xx and both of these",
        Kind.STATUSES,
        Kind.REASONS,
    ),
}

RATE_LIMIT: Final[Rows] = {
    "requests_per_minute": _both("requests that may begin within a minute", Kind.COUNT),
    "tokens_per_minute": _both("tokens that requests of a minute may take", Kind.COUNT),
    "concurrent_requests": _both("requests under way at once", Kind.COUNT),
}

CONNECTION: Final[Rows] = {
    "provider": Field(
        "whose protocol the server speaks; without it, that of the connection's name",
        Kind.REFERENCE,
        Kind.CHOICE,
        choices=PROVIDER_KINDS,
    ),
    "api_key": Field("the key, from a variable of the environment", Kind.SECRET),
    "api_key_env": _both(
        "the environment variable that holds the key; without it, the provider's own", Kind.TEXT
    ),
    "base_url": _both("where the server is; without it, the provider's own address", Kind.TEXT),
    "default_model": _both("the model of agents that name none", Kind.TEXT),
    "timeout": Field("seconds for one request", Kind.SECONDS, Kind.SECONDS),
    "organization": _both("sent as `OpenAI-Organization`", Kind.TEXT),
    "project": _both("sent as `OpenAI-Project`", Kind.TEXT),
    "headers": Field("sent with every request", Kind.ENV_MAP, Kind.TEXT_MAP),
    "models": _both("other names for models", Kind.TEXT_MAP),
    "retry": _parts("which failures are tried again, and when", RETRY),
    "rate_limit": _parts("how much the server is asked; more waits for its turn", RATE_LIMIT),
}

OAUTH: Final[Rows] = {
    "grant": Field(
        "who agrees: a person in a browser, or the client as itself",
        None,
        Kind.CHOICE,
        "authorization_code",
        ("authorization_code", "client_credentials"),
    ),
    "client_id": Field("who the client is; without it, it registers itself", None, Kind.TEXT),
    "client_secret_env": Field("the environment variable that holds its secret", None, Kind.TEXT),
    "client_metadata_url": Field("where servers can look up who the client is", None, Kind.TEXT),
    "issuer": Field("the only server that may see the secret", None, Kind.TEXT),
    "redirect_port": Field("where the browser comes back to; without it, any that is free", None, Kind.COUNT),
}

MCP: Final[Rows] = {
    "transport": _choice(
        "how the server is reached; without it `http` if there is a `url` and no `command`, else `stdio`",
        "stdio",
        "http",
        "sse",
    ),
    "command": _both("the program of a `stdio` server", Kind.TEXT),
    "args": _both("its arguments", Kind.TEXTS),
    "env": Field(
        "variables for it: a map in the source, names that are passed on in `Concerto.toml`",
        Kind.ENV_MAP,
        Kind.TEXTS,
    ),
    "url": _both("the address of an `http` or `sse` server", Kind.TEXT),
    "headers": Field("sent with every request", Kind.ENV_MAP, Kind.TEXT_MAP),
    "timeout": Field("seconds for one call", Kind.SECONDS, Kind.SECONDS, 60.0),
    "start_timeout": Field("seconds for its start, or for being connected", Kind.SECONDS, Kind.SECONDS, 60.0),
    "share": Field(
        "one server for all runs of a process, ended with the process", None, Kind.SWITCH, default=False
    ),
    "oauth": Field("authorization by OAuth 2.1; the table may be empty", None, Kind.PARTS, parts=OAUTH),
}

HOST: Final[Rows] = {
    "connector": Field("which `[hosts.…]` of `Concerto.toml` has its process", Kind.REFERENCE),
    "input_format": Field(
        "what the process reads: messages, or the prompt as text", Kind.CHOICE, None, "json", ("json", "text")
    ),
    "output_format": Field(
        "what it writes: messages, or the answer as text", Kind.CHOICE, None, "json", ("json", "text")
    ),
    "transport": Field("the only one there is", None, Kind.CHOICE, "stdio", ("stdio",)),
    "command": Field("the program", None, Kind.TEXT, required=True),
    "args": Field("its arguments", None, Kind.TEXTS),
    "env": Field("names of environment variables that are passed on", None, Kind.TEXTS),
    "working_dir": Field("the folder it runs in, from that of `Concerto.toml`", None, Kind.TEXT, default="."),
    "timeout": Field("seconds that one execution waits for the process", Kind.SECONDS, Kind.SECONDS, 120.0),
    "processes": Field("executions at once, each in a process of its own", None, Kind.COUNT, 1),
    "params": Field("sent to the process at its start", None, Kind.JSON_MAP),
}

COMPACT: Final[Rows] = {
    "at_tokens": Field("how long a history has to be, in tokens", Kind.COUNT, required=True),
    "keep": Field("how many of its last messages stay as they are", Kind.COUNT, default=0),
    "with": Field(
        "the agent that writes a summary of what leaves; without it, there is none", Kind.REFERENCE
    ),
}

AGENT: Final[Rows] = {
    "provider": Field("the connection that reaches its model; required", Kind.REFERENCE),
    "model": Field("the model's name; without it, the connection's `default_model`", Kind.TEXT),
    "base": Field("the same as `model`", Kind.TEXT),
    "description": Field("what models are told of it where it is a tool of another agent", Kind.TEXT),
    "input": Field("the schema of what it is asked where it is a tool; without it, a prompt", Kind.REFERENCE),
    "system_prompt": Field("what the model is told before all messages", Kind.TEXT),
    "temperature": Field("how much answers vary", Kind.NUMBER),
    "max_tokens": Field("the longest answer, in tokens", Kind.COUNT),
    "top_p": Field("which share of likely tokens is chosen from", Kind.NUMBER),
    "stop_sequences": Field("texts that end an answer", Kind.TEXTS),
    "seed": Field("makes a server that can choose the same again", Kind.WHOLE),
    "reasoning": Field("how much the model thinks before it answers: a word, or tokens", Kind.EFFORT),
    "service_tier": Field("how the provider serves its requests, in the provider's own word", Kind.TEXT),
    "extra": Field("put into the body of each request as it is", Kind.JSON_MAP),
    "timeout": Field("seconds for one request; without it, those of the connection", Kind.SECONDS),
    "fallback": Field(
        "who is asked when the model fails for good: other models of the connection, or agents for theirs",
        Kind.REFERENCE,
    ),
    "tools": Field(
        "tools, their methods, MCP servers, hosted tools and agents that it may call", Kind.REFERENCE
    ),
    "handoffs": Field("agents that it may give the conversation over to", Kind.REFERENCE),
    "tool_search": Field("the most tools that are shown; of more, the model searches for some", Kind.COUNT),
    "skills": Field("folders with a `SKILL.md`, or of such, that its model may read", Kind.TEXTS),
    "tool_choice": Field(
        'whether it calls tools: `"auto"`, `"required"`, `"none"`, or one method that it has to call',
        Kind.REFERENCE,
        default="auto",
        choices=("auto", "required", "none"),
    ),
    "allowed_tools": Field("which of its tools it may call", Kind.REFERENCE),
    "parallel_tool_calls": Field("whether an answer may have several calls", Kind.SWITCH, default=True),
    "max_iterations": Field(
        "model requests in one execution; without it, those of `[runtime]`", Kind.COUNT, default=10
    ),
    "memory": Field("the `memory` that its conversations are kept in", Kind.REFERENCE),
    "compact": Field("when what was said before is shortened, and how", Kind.PARTS, parts=COMPACT),
    "guard": Field(
        "what becomes of its sinks once its conversation holds untrusted text",
        Kind.CHOICE,
        choices=GUARDS,
    ),
    "code": Field(
        "whether its model may write programs that call its tools: besides calling them itself, or only so",
        Kind.CHOICE,
        choices=("also", "only"),
    ),
    "retry_policy": Field(
        "which failures are tried again, and when; without it, those of the connection",
        Kind.PARTS,
        parts=RETRY,
    ),
}

OPTIONS: Final[Rows] = {
    name: AGENT[name]
    for name in (
        "model", "temperature", "max_tokens", "top_p", "stop_sequences", "seed", "reasoning", "service_tier",
        "extra", "timeout", "parallel_tool_calls",
    )
}  # fmt: skip
"""Fields of an agent that `with_options` may give for one execution."""

TOOL: Final[Rows] = {"description": Field("what models are told of the tool", Kind.TEXT)}

DECLARATIONS: Final[Mapping[str, Rows]] = {
    "agent": AGENT,
    "connect": CONNECTION,
    "mcp": MCP,
    "host": HOST,
    "tool": TOOL,
}
"""By the word that begins the declaration."""

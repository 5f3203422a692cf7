"""What fields and decorators of other frameworks are called here, or what is written instead.

A row of one word is the name here; any other is an advice, in which `{0}` is the name of the declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_OF_CONNECTION = (
    'it belongs to the connection: `connect openai {{ api_key: env("NAME"), base_url: "…" }}`, '
    "or `[connections.openai]` in `Concerto.toml`"
)
_TYPE_OF_ANSWER = "the type is named in the call: `{0}.execute_with_schema<T>(prompt)`"
_DATA = "give it in the call, `{0}.with_data({{…}}).execute(prompt)`; tools find it in their `ToolContext`"
_PERSONA = "say it in `system_prompt`"
_OF_AGENT = "it belongs to the agent: `agent Name {{ provider: {0}, … }}`"
_CHECKED = "`@validate(function)` before the schema or the field says what is allowed"

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "agent": {
        **dict.fromkeys(("instructions", "instruction", "system_message", "preamble"), "system_prompt"),
        **dict.fromkeys(("role", "goal", "backstory", "persona"), _PERSONA),
        **dict.fromkeys(("max_turns", "max_steps", "max_iter", "recursion_limit"), "max_iterations"),
        **dict.fromkeys(("max_output_tokens", "max_completion_tokens", "num_predict"), "max_tokens"),
        **dict.fromkeys(("llm", "model_name", "model_id"), "model"),
        **dict.fromkeys(("client", "connection"), "provider"),
        **dict.fromkeys(("stop", "stop_words"), "stop_sequences"),
        **dict.fromkeys(("reasoning_effort", "thinking", "effort"), "reasoning"),
        **dict.fromkeys(("api_key", "api_key_env", "base_url", "url", "endpoint", "headers"), _OF_CONNECTION),
        **dict.fromkeys(
            ("output_type", "result_type", "response_format", "response_model", "output_schema", "output",
             "schema", "structured_output"),
            _TYPE_OF_ANSWER,
        ),
        **dict.fromkeys(("retries", "max_retries", "retry"), "write `retry_policy: {{ max_attempts: 3 }}`"),
        **dict.fromkeys(("deps", "deps_type", "dependencies", "context"), _DATA),
        **dict.fromkeys(
            ("mcp", "mcps", "mcp_servers", "servers", "toolsets", "functions"), "write them among its `tools`"
        ),
        **dict.fromkeys(("agents", "subagents"), "write them among its `tools`, or as `handoffs`"),
        **dict.fromkeys(("history", "messages"), "give it in the call: `{0}.chat(messages)`"),
        **dict.fromkeys(("user_prompt", "prompt_template"), "give it in the call: `{0}.execute(prompt)`"),
        **dict.fromkeys(("stream", "streaming"), "say it in the call: `{0}.stream(prompt)`"),
        **dict.fromkeys(("budget", "max_cost", "max_usd"), "write `@budget(tokens: 5000)` before the agent"),
        **dict.fromkeys(
            ("verbose", "debug", "callbacks", "hooks"), "leave it out: what it does is told as events"
        ),
        "name": "leave it out: its name is `{0}`",
    },
    "connection": {
        **dict.fromkeys(("url", "endpoint", "host", "api_base", "base"), "base_url"),
        **dict.fromkeys(("key", "token"), "api_key"),
        **dict.fromkeys(("type", "kind", "protocol"), "provider"),
        **dict.fromkeys(("retries", "max_retries"), "write `retry: {{ max_attempts: 3 }}`"),
        **dict.fromkeys(("temperature", "max_tokens", "system_prompt"), _OF_AGENT),
    },
    "mcp": {
        **dict.fromkeys(("uri", "endpoint", "base_url"), "url"),
        **dict.fromkeys(("cmd", "exec", "program"), "command"),
        **dict.fromkeys(("type", "protocol"), "transport"),
        **dict.fromkeys(
            ("auth", "token", "api_key", "authorization"), 'write `headers: {{"authorization": env("NAME")}}`'
        ),
        **dict.fromkeys(
            ("tools", "allowed_tools", "include_tools"),
            "declare in it those that are used: `fn name(…) -> Result<T, ToolError>;`",
        ),
        "name": "leave it out: its name is `{0}`",
    },
}  # fmt: skip
"""By the word that begins the declaration."""

DECORATORS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("description", "desc", "doc", "docstring", "help"), "describe"),
    **dict.fromkeys(("retries", "retriable", "retryable"), "retry"),
    **dict.fromkeys(("cached", "lru_cache", "memoize"), "cache"),
    **dict.fromkeys(("arg", "argument", "parameter"), "param"),
    **dict.fromkeys(("validator", "field_validator", "model_validator"), "validate"),
    **dict.fromkeys(("throttle", "ratelimit"), "rate_limit"),
    **dict.fromkeys(("tool", "tool_plain", "function_tool", "ai_function"),
        'a tool is declared: `tool Name {{ description: "…", @describe("…") pub fn … }}`'),
    **dict.fromkeys(("agent", "system_prompt", "instructions"), "an agent is declared: `agent Name {{ … }}`"),
    **dict.fromkeys(("node", "step", "task", "flow", "workflow"), "the steps of a `pipeline` are its stages"),
    **dict.fromkeys(("min", "max", "ge", "gt", "le", "lt", "range", "length", "pattern", "regex", "check",
        "assert", "constraint", "field"), _CHECKED),
    **dict.fromkeys(("dataclass", "property", "staticmethod", "classmethod", "override"), "leave it out"),
    **dict.fromkeys(("resource", "mcp_tool"), "`@mcp_resource` and `@mcp_prompt` stand before functions"),
    "default": "write the value behind the type: `name: T = value`",
    "pytest": "test",
}  # fmt: skip


def name_here(foreign: Mapping[str, str], name: str) -> str | None:
    """What another framework's `name` is called here."""
    found = foreign.get(name, "")
    return found if found.isidentifier() else None


def advice_on(foreign: Mapping[str, str], name: str, owner: str = "") -> str:
    """What to write instead of another framework's `name`; empty if nobody knows."""
    found = foreign.get(name, "")
    return "" if found.isidentifier() else found.format(owner)

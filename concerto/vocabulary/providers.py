"""The providers that a connection may have, by the names that programs and manifests use: a row for each."""

from __future__ import annotations

from concerto.records import record


@record(frozen=True)
class ProviderRow:
    """What is known of a provider without asking it. `wire` is its module in
    `concerto.runtime.llm.providers`, `default_model` what is asked for where nobody names a model,
    `traced_as` its name in OpenTelemetry's conventions. One that is `predeclared` has a connection of its own
    name, which no program needs to declare."""

    wire: str = ""
    default_model: str = ""
    traced_as: str = ""
    predeclared: bool = False


PROVIDERS = {
    "openai": ProviderRow("openai_chat", "gpt-4o-mini", "openai", predeclared=True),
    "openai-responses": ProviderRow("openai_responses", "gpt-4o-mini", "openai"),
    "anthropic": ProviderRow("anthropic", "claude-sonnet-4-5", "anthropic", predeclared=True),
    "google": ProviderRow("gemini", "gemini-2.5-flash", "gcp.gemini", predeclared=True),
    "ollama": ProviderRow("ollama", "llama3.2", "ollama", predeclared=True),
    "mock": ProviderRow("", "mock", "mock", predeclared=True),
    "custom": ProviderRow("openai_chat", "", "openai"),
}

PROVIDER_KINDS = tuple(PROVIDERS)
DEFAULT_CONNECTIONS = tuple([name for name, row in PROVIDERS.items() if row.predeclared])

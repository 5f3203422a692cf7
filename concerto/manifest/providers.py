"""The providers that a connection may have, by the names that programs and manifests use. Their wires are in
`concerto.runtime.llm.providers`."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

ProviderKind: TypeAlias = Literal[
    "openai", "openai-responses", "anthropic", "google", "ollama", "mock", "custom"
]
PROVIDER_KINDS: tuple[str, ...] = get_args(ProviderKind)

DEFAULT_CONNECTIONS = ("openai", "anthropic", "google", "ollama", "mock")
"""Connections that need no declaration, each named like its provider."""

DEFAULT_MODELS = {
    "openai": "gpt-4o-mini",
    "openai-responses": "gpt-4o-mini",
    "anthropic": "claude-sonnet-4-5",
    "google": "gemini-2.5-flash",
    "ollama": "llama3.2",
    "mock": "mock",
}
"""What a connection asks for where nobody names a model."""

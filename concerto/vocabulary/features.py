"""Features of requests that not every wire has: one row each, with what the wires call them.

The compiler refuses a field that the agent's provider cannot be told, the planner of executions does where
the provider was not known before; the table of the reference is held against what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from concerto.records import record
from concerto.vocabulary.providers import PROVIDERS

WIRES: Final[Mapping[str, str]] = {
    "openai_chat": "OpenAI chat",
    "openai_responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "ollama": "Ollama",
}
"""Their modules, and their names for people."""


@record(frozen=True)
class Feature:
    """`wires` says where it stands in the request of each wire that has it; a wire that is missing refuses
    it."""

    meaning: str
    wires: Mapping[str, str]


def _feature(meaning: str, *places: str | None) -> Feature:
    wires = dict(zip(WIRES, places, strict=True))
    return Feature(meaning, {wire: place for wire, place in wires.items() if place is not None})


FEATURES: Final[Mapping[str, Feature]] = {
    "temperature": _feature(
        "`temperature`", "temperature", "temperature", "temperature", "generationConfig.temperature",
        "options.temperature",
    ),
    "top_p": _feature("`top_p`", "top_p", "top_p", "top_p", "generationConfig.topP", "options.top_p"),
    "max_tokens": _feature(
        "`max_tokens`", "max_tokens", "max_output_tokens", "max_tokens", "generationConfig.maxOutputTokens",
        "options.num_predict",
    ),
    "stop_sequences": _feature(
        "`stop_sequences`", "stop", None, "stop_sequences", "generationConfig.stopSequences", "options.stop"
    ),
    "seed": _feature("`seed`", "seed", None, None, "generationConfig.seed", "options.seed"),
    "reasoning": _feature(
        "`reasoning`", "reasoning_effort", "reasoning.effort", "thinking",
        "generationConfig.thinkingConfig", "think",
    ),
    "reasoning_tokens": _feature(
        "`reasoning` in tokens", None, None, "thinking.budget_tokens",
        "generationConfig.thinkingConfig.thinkingBudget", None,
    ),
    "service_tier": _feature("`service_tier`", "service_tier", "service_tier", "service_tier", None, None),
}  # fmt: skip


def refused_settings(provider: str, settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The settings of an agent that its provider's wire does not have, each with why."""
    wire = PROVIDERS[provider].wire
    if not wire:
        return
    for name, value in settings.items():
        if value is None:
            continue
        tokens = name == "reasoning" and isinstance(value, int)
        feature = FEATURES.get("reasoning_tokens" if tokens else name)
        if feature is not None and wire not in feature.wires:
            yield name, f"the wire of `{provider}` has no {feature.meaning if tokens else f'`{name}`'}"

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
    "image": _feature(
        "an image", "messages.0.content.1.image_url", "input.0.content.1.image_url",
        "messages.0.content.1.source.data", "contents.0.parts.1.inlineData", "messages.0.images.0",
    ),
    "image_url": _feature(
        "an image by its address", "messages.0.content.1.image_url", "input.0.content.1.image_url",
        "messages.0.content.1.source.url", "contents.0.parts.1.fileData", None,
    ),
    "file": _feature(
        "a file", "messages.0.content.1.file", "input.0.content.1.file_data",
        "messages.0.content.1.source.data", "contents.0.parts.1.inlineData", None,
    ),
    "file_url": _feature(
        "a file by its address", None, "input.0.content.1.file_url", "messages.0.content.1.source.url",
        "contents.0.parts.1.fileData", None,
    ),
    "audio": _feature(
        "a sound", "messages.0.content.1.input_audio", None, None, "contents.0.parts.1.inlineData", None
    ),
    "audio_url": _feature(
        "a sound by its address", None, None, None, "contents.0.parts.1.fileData", None
    ),
    "result_image": _feature(
        "an image as result of a tool", "messages.3.content.1.image_url", "input.2.output.1.image_url",
        "messages.2.content.0.content.1.source.data", "contents.2.parts.1.inlineData", "messages.3.images.0",
    ),
    "partial": _feature(
        "partial values of a type", "response_format.json_schema.schema", "text.format.schema",
        "tools.0.input_schema", "generationConfig.responseSchema", "format",
    ),
}  # fmt: skip

AUTOMATIC: Final[Mapping[str, Feature]] = {
    "cache_breakpoint": _feature("cache breakpoint", None, None, "cache_control", None, None),
    "tokens_cached": _feature(
        "`tokens_cached`, in the answer", "usage.prompt_tokens_details.cached_tokens",
        "usage.input_tokens_details.cached_tokens", "usage.cache_read_input_tokens",
        "usageMetadata.cachedContentTokenCount", None,
    ),
}  # fmt: skip
"""What no program asks for; a wire that is missing goes without it."""


def takes(wire: str, kind: str, *, by_url: bool) -> bool:
    """Whether a wire takes media of a kind; that of a mock connection takes all."""
    return not wire or wire in FEATURES[f"{kind}_url" if by_url else kind].wires


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

"""Decorators, one row each: where they may stand, their arguments, and what holds without one.

What they mean is in `grammar/words.md`. Those of calls become a `concerto.effects.policy.Policy` of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from concerto.json_data import Json
from concerto.records import frozen
from concerto.vocabulary.fields import RETRY
from concerto.vocabulary.labels import SINKS, SOURCES

Place = Literal[
    "agent", "host", "tool method", "mcp function", "provider method", "stage", "pipeline", "method",
    "trait method", "parameter", "other parameter", "struct", "struct field", "schema", "schema field",
    "variant", "field", "function", "served function", "declaration",
]  # fmt: skip
"""What a decorator stands before. `declaration` is everything that takes none."""

PLACE_NAMES: Final[Mapping[str, str]] = {
    "provider method": "method of a `@tool_provider`",
    "served function": "function with `@mcp_prompt` or `@mcp_resource`",
    "other parameter": "parameter of this function",
    "schema field": "field of a schema",
    "struct field": "field of a struct",
    "method": "method of an impl",
    "variant": "variant of an enum",
    "declaration": "declaration like this",
}


@frozen
class ArgumentRow:
    """`choices` limit a String or a Word, which is a name that stands for itself; Patterns are a map from
    names to arrays of strings. A Name is one that every wire allows, a Reference that of a declaration.
    `default` holds where it is left out; None if there is nothing then."""

    name: str
    kind: Literal[
        "String", "Int", "Count", "Number", "Seconds", "Reference", "Name", "Word", "Words", "Patterns"
    ]
    required: bool = False
    choices: tuple[str, ...] = ()
    default: Json = None


@frozen
class DecoratorRow:
    """Of one that is `compiled`, all that it means stands elsewhere in the IR, which does not list it."""

    places: tuple[Place, ...]
    arguments: tuple[ArgumentRow, ...] = ()
    repeats: bool = False
    compiled: bool = False

    @property
    def defaults(self) -> dict[str, Json]:
        """What its arguments are to who leaves them out."""
        return {each.name: each.default for each in self.arguments if not each.required}


_AROUND_EFFECTS: tuple[Place, ...] = (
    "agent",
    "host",
    "tool method",
    "mcp function",
    "provider method",
    "stage",
)
_CALLED_BY_MODELS: tuple[Place, ...] = (
    "tool method", "mcp function", "provider method", "trait method", "method",
)  # fmt: skip
_LABELLED: tuple[Place, ...] = ("tool method", "mcp function", "provider method", "host")
_DESCRIBED: tuple[Place, ...] = (*_CALLED_BY_MODELS, "served function", "struct field", "schema field")

DECORATORS: Final[Mapping[str, DecoratorRow]] = {
    "retry": DecoratorRow(
        _AROUND_EFFECTS,
        (
            ArgumentRow("max", "Count", default=RETRY["max_attempts"].default),
            ArgumentRow(
                "backoff", "String", choices=RETRY["backoff"].choices, default=RETRY["backoff"].default
            ),
            ArgumentRow("delay_ms", "Int", default=RETRY["initial_delay_ms"].default),
        ),
    ),
    "timeout": DecoratorRow(_AROUND_EFFECTS, (ArgumentRow("seconds", "Seconds", required=True),)),
    "cache": DecoratorRow(_AROUND_EFFECTS, (ArgumentRow("ttl_seconds", "Number", default=300),)),
    "log": DecoratorRow(_AROUND_EFFECTS, (ArgumentRow("channel", "String", default="log"),)),
    "rate_limit": DecoratorRow(_AROUND_EFFECTS, (ArgumentRow("per_minute", "Count", required=True),)),
    "budget": DecoratorRow(_AROUND_EFFECTS, (ArgumentRow("tokens", "Int"), ArgumentRow("usd", "Number"))),
    "read_only": DecoratorRow(("tool method", "mcp function", "host")),
    "idempotent": DecoratorRow(("tool method", "mcp function", "host")),
    "describe": DecoratorRow(_DESCRIBED, (ArgumentRow("text", "String", required=True),), compiled=True),
    "param": DecoratorRow(
        (*_CALLED_BY_MODELS, "served function"),
        (ArgumentRow("name", "String", required=True), ArgumentRow("text", "String", required=True)),
        repeats=True,
        compiled=True,
    ),
    "name": DecoratorRow(("tool method", "served function"), (ArgumentRow("name", "Name", required=True),)),
    "mcp_task": DecoratorRow(
        ("agent", "tool method"),
        (
            ArgumentRow("support", "String", choices=("optional", "required"), default="optional"),
            ArgumentRow("ttl_seconds", "Number", default=86400),
        ),
    ),
    "mcp_prompt": DecoratorRow(("served function",), compiled=True),
    "mcp_resource": DecoratorRow(
        ("served function",),
        (ArgumentRow("uri", "String", required=True), ArgumentRow("media_type", "String")),
        compiled=True,
    ),
    "tools": DecoratorRow(
        ("pipeline", "stage"), (ArgumentRow("tools", "Reference", required=True),), compiled=True
    ),
    "tool_provider": DecoratorRow(
        ("struct",),
        (ArgumentRow("prefix", "String"), ArgumentRow("id", "String", default="id")),
        compiled=True,
    ),
    "strict": DecoratorRow(("schema", "schema field")),
    "partial": DecoratorRow(("schema", "schema field")),
    "coerce": DecoratorRow(("schema", "schema field")),
    "alias": DecoratorRow(
        ("schema field", "struct field", "variant"),
        (ArgumentRow("name", "String", required=True),),
        compiled=True,
    ),
    "validate": DecoratorRow(
        ("schema", "schema field"), (ArgumentRow("function", "Reference", required=True),)
    ),
    "source": DecoratorRow(_LABELLED, (ArgumentRow("label", "Word", required=True, choices=SOURCES),)),
    "sink": DecoratorRow(
        _LABELLED,
        (
            ArgumentRow("kind", "Word", required=True, choices=SINKS),
            ArgumentRow("trusted", "Words"),
            ArgumentRow("allow", "Patterns"),
        ),
    ),
    "test": DecoratorRow(("function",), (ArgumentRow("name", "String"),), compiled=True),
    "expect_fail": DecoratorRow(("function",), (ArgumentRow("message", "String"),), compiled=True),
    "replay": DecoratorRow(
        ("function",), (ArgumentRow("recording", "String", required=True),), compiled=True
    ),
}
"""All decorators of the language by name."""

PARAM_ON_PARAMETER: Final = DecoratorRow(("parameter",), (ArgumentRow("text", "String", required=True),))

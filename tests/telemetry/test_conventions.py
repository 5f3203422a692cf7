"""The table of conventions, held against OpenTelemetry's own registry."""

from __future__ import annotations

import importlib
import pkgutil
from typing import get_args

import pytest
from opentelemetry.semconv import attributes as stable_attributes
from opentelemetry.semconv._incubating import attributes, metrics
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import (
    GenAiOperationNameValues,
    GenAiTokenTypeValues,
)
from opentelemetry.semconv.schemas import Schemas

from concerto.effects.conventions import SPANS, VERSION, Key, Metric, OwnKey, Workflow
from concerto.effects.kinds import AnyEffect, Clock, Env, Random
from concerto.vocabulary.providers import PROVIDERS


def registered(package: object) -> set[str]:
    """The values of all constants of a package's modules."""
    names: set[str] = set()
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):  # type: ignore[attr-defined]
        names |= {
            each for each in vars(importlib.import_module(found.name)).values() if isinstance(each, str)
        }
    return names


def values(table: type) -> set[str]:
    return {value for name, value in vars(table).items() if name.isupper()}


def test_every_key_is_in_the_registry() -> None:
    assert values(Key) <= registered(attributes) | registered(stable_attributes)
    assert values(Metric) <= registered(metrics)
    assert {key.partition(".")[0] for key in values(OwnKey)} == {"concerto"}
    assert f"V{VERSION.replace('.', '_')}" in Schemas.__members__


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_operations_providers_and_kinds_of_tokens_are_those_of_the_registry() -> None:
    from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiProviderNameValues

    operations = {shape.name for shape in SPANS.values() if shape.operation}
    assert operations <= {each.value for each in GenAiOperationNameValues}
    assert {each.value for each in GenAiTokenTypeValues} == {"input", "output"}
    known = {each.value for each in GenAiProviderNameValues}
    ours = {each.traced_as for each in PROVIDERS.values() if each.traced_as}
    assert {"openai", "anthropic"} <= ours & known


def test_every_kind_of_effect_that_takes_time_has_a_span() -> None:
    assert set(SPANS) == {*get_args(AnyEffect), Workflow} - {Clock, Env, Random}

"""Completion: the values of an argument that may be one of a few."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcp import types

from concerto.ir.module import Served
from concerto.json_data import Json
from concerto.schema.reading import properties

_MOST = 100
"""So many values may be answered at once."""


def completing(
    served: Sequence[Served],
) -> Callable[[Any, types.CompleteRequestParams], Awaitable[types.CompleteResult]]:
    """The handler for what a program offers."""

    async def complete(context: object, params: types.CompleteRequestParams) -> types.CompleteResult:
        named = (each for each in served if _is_meant(each, params.ref))
        schema: Json = next((each.schema for each in named), {})
        choices = properties(schema).get(params.argument.name, {}).get("enum", ())
        begun = params.argument.value.casefold()
        found = [text for text in map(str, choices) if text.casefold().startswith(begun)]
        completion = types.Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)
        return types.CompleteResult(completion=completion)

    return complete


def _is_meant(served: Served, reference: types.PromptReference | types.ResourceTemplateReference) -> bool:
    if isinstance(reference, types.PromptReference):
        return not served.uri and served.name == reference.name
    return bool(served.uri) and served.uri == reference.uri

"""What a server has besides tools: its resources and prompts, as JSON for a program."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

from mcp import Client

from concerto.json_data import Json
from concerto.runtime.mcp.content import contents_part, described_in_text

_MOST_PAGES = 1000


async def _resources(client: Client, given: Mapping[str, Json]) -> list[Json]:
    capabilities = client.server_capabilities
    if capabilities is not None and capabilities.resources is None:
        return []
    whole = [str(each.uri) async for each in _all(client.list_resources, "resources")]
    return whole + [
        each.uri_template async for each in _all(client.list_resource_templates, "resource_templates")
    ]


async def _resource(client: Client, given: Mapping[str, Json]) -> list[Json]:
    found = await client.read_resource(given["uri"])
    return [contents_part(each) for each in found.contents]


async def _prompts(client: Client, given: Mapping[str, Json]) -> list[Json]:
    capabilities = client.server_capabilities
    if capabilities is not None and capabilities.prompts is None:
        return []
    return [each.name async for each in _all(client.list_prompts, "prompts")]


async def _prompt(client: Client, given: Mapping[str, Json]) -> list[Json]:
    found = await client.get_prompt(given["name"], given["arguments"])
    return [{"role": each.role, "content": described_in_text(each.content)} for each in found.messages]


READERS: Final[Mapping[str, Callable[[Client, Mapping[str, Json]], Awaitable[list[Json]]]]] = {
    "resources/list": _resources,
    "resources/read": _resource,
    "prompts/list": _prompts,
    "prompts/get": _prompt,
}


async def _all(list_page: Callable[..., Awaitable[Any]], items: str) -> AsyncIterator[Any]:
    """The items of all pages of a listing."""
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await list_page(cursor=cursor)
        for each in getattr(page, items):
            yield each
        cursor = page.next_cursor
        if not cursor:
            return
    raise RuntimeError(f"it lists its {items.replace('_', ' ')} without end")

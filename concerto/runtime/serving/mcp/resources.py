"""The resources of a program: its functions with `@mcp_resource`. An address with `{name}` in it is a
template."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import ResourceUpdated, SubscriptionBus
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate

from concerto.ir.module import Served
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import Branch
from concerto.runtime.serving.mcp.arguments import call_served
from concerto.runtime.serving.mcp.calls import Calls, session_of
from concerto.runtime.serving.mcp.content import contents_of, parts_of, returns_parts, text_of
from concerto.vm.json_values import to_json
from concerto.vm.values import Value

if TYPE_CHECKING:
    from concerto.runtime.run.run import Run

Context = ServerRequestContext[Any, Any]


RESOURCE_UPDATED = "mcp:resource_updated"
"""The channel on which a program says that a resource is not what it was; the payload is its address."""


class ServedResources:
    def __init__(self, run: Run, calls: Calls, bus: SubscriptionBus) -> None:
        self._run = run
        self._calls = calls
        self._bus = bus
        self._subscribed: dict[str, dict[str, ServerSession]] = {}
        """the sessions of older clients by address"""
        self.served = [each for each in run.module.served if each.uri]
        self._templates = [(UriTemplate.parse(each.uri), each) for each in self.served]

    def __bool__(self) -> bool:
        return bool(self.served)

    async def list_resources(self, context: object, params: object) -> types.ListResourcesResult:
        found = [each for each in self.served if not UriTemplate.is_template(each.uri)]
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri, name=each.name, description=each.description, mime_type=self._type_of(each)
                )
                for each in found
            ]
        )

    async def list_templates(self, context: object, params: object) -> types.ListResourceTemplatesResult:
        found = [each for each in self.served if UriTemplate.is_template(each.uri)]
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=each.uri,
                    name=each.name,
                    description=each.description,
                    mime_type=self._type_of(each),
                )
                for each in found
            ]
        )

    async def read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        uri = str(params.uri)
        matches = ((served, template.match(uri)) for template, served in self._templates)
        served, given = next(((one, found) for one, found in matches if found is not None), (None, None))
        if served is None or given is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource `{uri}`", {"uri": uri})
        texts = {name: text for name, text in given.items() if isinstance(text, str)}

        async def work(branch: Branch) -> types.ReadResourceResult:
            value = await call_served(self._run, served, texts, branch)
            return types.ReadResourceResult(contents=self._contents(served, uri, value))

        return await self._calls.perform(context, params, work)

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        self._subscribed.setdefault(str(params.uri), {})[session_of(context)] = context.session
        return types.EmptyResult()

    async def unsubscribe(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscribed.get(str(params.uri), {}).pop(session_of(context), None)
        return types.EmptyResult()

    def changed(self, uri: Json) -> None:
        """Tell those who want to know that there is something else at an address by now."""
        if isinstance(uri, str):
            self._run.supervise(asyncio.create_task(self._tell(uri)))
        else:
            self._run.emits.log("warn", f"`{RESOURCE_UPDATED}` is emitted with the address of a resource")

    async def _tell(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        subscribed = self._subscribed.get(uri, {})
        for name, session in list(subscribed.items()):
            try:
                await session.send_resource_updated(uri)
            except Exception:  # The client has gone.
                subscribed.pop(name, None)

    def _contents(
        self, served: Served, uri: str, value: Value
    ) -> list[types.TextResourceContents | types.BlobResourceContents]:
        parts = parts_of(value)
        if parts is None:
            text = {"data": "", "text": text_of(to_json(value))}
            return [contents_of(text, uri, self._type_of(served) or "")]
        return [
            contents_of(part, part["uri"] or uri, part["media_type"] or served.media_type) for part in parts
        ]

    def _type_of(self, served: Served) -> str | None:
        """The media type: what is said, or what follows from the type; None if only the value tells."""
        table = self._run.module.types
        if served.media_type or returns_parts(served.method.result, table):
            return served.media_type or None
        definition = table[served.method.result]
        if definition.kind == "result":
            definition = table[definition.items[0]]
        return "text/plain" if definition.name in ("String", "Prompt") else "application/json"

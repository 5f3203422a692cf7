"""The server of a program: which requests it answers, over standard input and output or HTTP.

What the program prints goes to standard error, because standard output belongs to the protocol.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from mcp import types
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.server.transport_security import TransportSecuritySettings

from concerto.json_data import Json
from concerto.runtime.serving import IDLE_SECONDS
from concerto.runtime.serving.mcp.calls import Calls
from concerto.runtime.serving.mcp.completion import completing
from concerto.runtime.serving.mcp.input import ReadableMessages, private_input
from concerto.runtime.serving.mcp.prompts import ServedPrompts
from concerto.runtime.serving.mcp.resources import RESOURCE_UPDATED, ServedResources
from concerto.runtime.serving.mcp.tools import ServedTools, TaskStarter
from concerto.version import __version__

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from concerto.runtime.run.run import Run

_FRESH = CacheHint(ttl_ms=300_000, scope="public")
"""What a program offers does not change while it is served, and is the same for all clients."""
_LISTS: tuple[CacheableMethod, ...] = (
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
)


class ServedTasks(TaskStarter, Protocol):
    """The tasks of a server."""

    def key(self) -> bytes:
        """What seals the state of calls that wait."""

    def register(self, server: Server[Any], calls: Calls, changed: Callable[[Json], None]) -> None:
        """Answer what clients ask of tasks, and go on with those of servers that are gone. They say as well
        when a resource has `changed`."""


async def serve_stdio(run: Run, name: str, tasks: ServedTasks | None = None) -> None:
    """Serve one client on standard input and output, until it leaves."""
    server = _server(run, name, tasks)
    with private_input() as lines:
        async with stdio_server(stdin=cast(Any, lines)) as (incoming, outgoing):
            readable = ReadableMessages(incoming, outgoing)
            await server.run(cast(Any, readable), outgoing, server.create_initialization_options())


def http_app(run: Run, name: str, tasks: ServedTasks | None = None) -> Starlette:
    """The server over streamable HTTP at `/mcp`, for a front that looks itself at who may ask."""
    security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return _server(run, name, tasks).streamable_http_app(transport_security=security)


async def serve_http(run: Run, name: str, host: str, port: int, tasks: ServedTasks | None = None) -> None:
    """Serve clients over streamable HTTP at `/mcp`, until the run is told to stop."""
    import uvicorn

    # The other parser of HTTP keeps the blanks around the value of a header.
    app = _server(run, name, tasks).streamable_http_app(host=host)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        lifespan="on",
        http="h11",
        timeout_keep_alive=IDLE_SECONDS,
    )
    listening = uvicorn.Server(config)
    serving = asyncio.create_task(listening.serve())
    try:
        while not listening.started and not serving.done():
            await asyncio.sleep(0.01)
        if listening.started:
            bound = listening.servers[0].sockets[0].getsockname()[1]
            sys.stderr.write(f"serving at http://{host}:{bound}/mcp\n")
            sys.stderr.flush()
        await asyncio.shield(serving)
    finally:
        # What is being served ends with the loop, and the server would call that a failure.
        logging.getLogger("uvicorn.error").disabled = True
        listening.should_exit = listening.force_exit = True
        await asyncio.wait([serving])


def _server(run: Run, name: str, tasks: ServedTasks | None) -> Server[Any]:
    """It offers prompts and resources only if the program has some."""
    calls = Calls(run)
    tools = ServedTools(run, calls, tasks)
    bus = InMemorySubscriptionBus()
    prompts, resources = ServedPrompts(run, calls), ServedResources(run, calls, bus)
    run.emits.listen(RESOURCE_UPDATED, resources.changed)
    server: Server[Any] = Server(
        name,
        version=__version__,
        cache_hints=dict.fromkeys(_LISTS, _FRESH),
        on_list_tools=tools.list_tools,
        # The library does not know yet that a call may give a task.
        on_call_tool=cast(Any, tools.call),
        on_list_prompts=prompts.list_prompts if prompts else None,
        on_get_prompt=prompts.get if prompts else None,
        on_list_resources=resources.list_resources if resources else None,
        on_list_resource_templates=resources.list_templates if resources else None,
        on_read_resource=resources.read if resources else None,
        on_subscribe_resource=resources.subscribe if resources else None,
        on_unsubscribe_resource=resources.unsubscribe if resources else None,
        on_subscriptions_listen=ListenHandler(bus),
    )
    if prompts or resources:
        offered = [*prompts.served, *resources.served]
        server.add_request_handler("completion/complete", types.CompleteRequestParams, completing(offered))
    if tasks is not None:
        tasks.register(server, calls, resources.changed)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, calls.set_level)
    security = RequestStateSecurity(keys=[tasks.key()]) if tasks else RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(security, default_audience=name))
    return server

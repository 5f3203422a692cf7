"""Shared connections: runs in one event loop that ask a model server with the same settings use the
connections that earlier ones have made. The last are closed when the loop is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.http import ModelServer, terms_of

_MOST_UNUSED = 16
"""So many servers are kept that no run uses; keys and addresses may be new ones for each run."""


class SharedServers:
    """The model servers of one event loop."""

    def __init__(self) -> None:
        self._users: dict[ModelServer, int] = {}
        self._closing = self._close_at_the_end()
        # A loop closes all generators that have begun in it before it is closed itself.
        with suppress(StopIteration):
            self._closing.__anext__().send(None)

    def take(
        self, connection: Connection, environment: Mapping[str, str], max_response_mb: float | None
    ) -> ModelServer:
        """The server of a connection, as somebody with this environment asks it."""
        terms = terms_of(connection, environment, max_response_mb)
        server = next((each for each in self._users if each.terms == terms), None)
        if server is None:
            server = ModelServer(connection, environment, max_response_mb)
        # The one that was used last stands last.
        self._users[server] = self._users.pop(server, 0) + 1
        return server

    async def give_back(self, server: ModelServer) -> None:
        if server not in self._users:
            return
        self._users[server] -= 1
        await server.shed()
        unused = [each for each, users in self._users.items() if not users]
        for each in unused[:-_MOST_UNUSED]:
            del self._users[each]
            await each.close()

    async def _close_at_the_end(self) -> AsyncGenerator[None, None]:
        loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            with _lock:
                _of_loops.pop(loop, None)
            servers, self._users = list(self._users), {}
            for server in servers:
                await server.close()


_lock = threading.Lock()
_of_loops: dict[asyncio.AbstractEventLoop, SharedServers] = {}


def shared_servers() -> SharedServers:
    """Those of the event loop that runs."""
    loop = asyncio.get_running_loop()
    found = _of_loops.get(loop)
    if found is None:
        with _lock:
            for gone in [each for each in _of_loops if each.is_closed()]:
                del _of_loops[gone]
            found = _of_loops[loop] = SharedServers()
    return found

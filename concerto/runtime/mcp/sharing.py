"""Servers that all runs of a process share (`share = true`): they live on an event loop of their own, in a
thread of their own, from the first run that needs one to the end of the process.

They ask nobody questions: a question belongs to a run, and the protocol does not say to which.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from mcp.shared.dispatcher import ProgressFnT
from mcp.types import CallToolResult

from concerto.contracts.interface import Interface
from concerto.escape import visible_line
from concerto.json_data import Json
from concerto.runtime.mcp.connection import Listener
from concerto.runtime.mcp.process import inherited
from concerto.runtime.mcp.server import Server
from concerto.runtime.mcp.settings import ServerSettings

T = TypeVar("T")

_CLOSE_SECONDS = 15.0


class SharedServer:
    """A run's view of a server that is not its own; what `Server` does, from any event loop."""

    def __init__(self, server: Server, home: Home) -> None:
        self.settings = server.settings
        self._server = server
        self._home = home

    @property
    def running(self) -> bool:
        return self._server.running

    async def interface(self) -> Interface:
        return await self._home.do(self._server.interface())

    async def call(
        self,
        tool: str,
        arguments: dict[str, Json],
        meta: dict[str, Json],
        progress: ProgressFnT | None = None,
    ) -> CallToolResult:
        return await self._home.do(self._server.call(tool, arguments, meta, _from_afar(progress)))

    async def read(self, request: str, given: Mapping[str, Json]) -> Json:
        return await self._home.do(self._server.read(request, given))

    async def close(self) -> None:
        """The run has ended; the server has not."""


class Home:
    """The event loop of the shared servers."""

    def __init__(self) -> None:
        self.servers: dict[str, Server] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="shared MCP", daemon=True)
        self._thread.start()

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """The value of work in this loop, for somebody in another one; cancelled with him."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        servers, self.servers = list(self.servers.values()), {}

        async def close_all() -> None:
            await asyncio.gather(*[server.close() for server in servers])

        asyncio.run_coroutine_threadsafe(close_all(), self._loop).result(_CLOSE_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        self._loop.close()


_lock = threading.Lock()
_homes: list[Home] = []


def shared_server(settings: ServerSettings, environment: Mapping[str, str]) -> SharedServer:
    """The server of these very settings, the same for all who ask; another one where it has ended for
    good."""
    key = repr((settings, sorted(inherited(environment).items())))
    with _lock:
        if not _homes:
            _homes.append(Home())
        home = _homes[0]
        server = home.servers.get(key)
        if server is None or server.spent:
            listener = Listener(lambda text: None, _warn, dict(environment))
            server = home.servers[key] = Server(settings, listener)
    return SharedServer(server, home)


@atexit.register
def close_shared() -> None:
    """End all shared servers; whoever needs one later starts it anew."""
    with _lock:
        homes = _homes.copy()
        _homes.clear()
    for home in homes:
        home.close()


# The thread stays behind in a fork, and the servers belong to who started them.
os.register_at_fork(after_in_child=_homes.clear)


def _from_afar(progress: ProgressFnT | None) -> ProgressFnT | None:
    """What hears of progress in its own loop, to be called in another one."""
    if progress is None:
        return None
    loop, heard = asyncio.get_running_loop(), progress

    async def in_its_loop(done: float, total: float | None, message: str | None) -> None:
        await heard(done, total, message)

    async def report(progress: float, total: float | None, message: str | None) -> None:
        telling = in_its_loop(progress, total, message)
        try:
            asyncio.run_coroutine_threadsafe(telling, loop)
        except RuntimeError:  # The loop is closed: whoever asked has gone.
            telling.close()

    return report


def _warn(text: str) -> None:
    sys.stderr.write(f"[warn] {visible_line(text)}\n")

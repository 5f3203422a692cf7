"""The life of one server in a run: started when it is first needed, shared by all, started again once after
a crash. A server over HTTP that does not know the session any more, as after a restart, is given a new one;
an answer that is lost with its connection ends no session.

A call whose answer was lost with the server is made again only if the server says of the tool that this is
harmless.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from mcp.shared.dispatcher import ProgressFnT
from mcp.types import CallToolResult

from concerto.contracts.interface import Interface
from concerto.effects.error_kinds import ToolKind
from concerto.json_data import Json
from concerto.runtime.mcp.connection import Listener, McpConnection, ServerFailure, SessionEnded
from concerto.runtime.mcp.settings import ServerSettings

T = TypeVar("T")


class Server:
    """A server that may or may not run at the moment."""

    def __init__(self, settings: ServerSettings, listener: Listener) -> None:
        self.settings = settings
        self._listener = listener
        self._connection: McpConnection | None = None
        self._opening: asyncio.Task[McpConnection] | None = None
        self._restarted = False
        self._closed = False

    async def interface(self) -> Interface:
        """What the server offers now; it is started if it does not run."""
        connection = await self._connected()
        try:
            await connection.refresh()
        except SessionEnded:
            connection = await self._connected()
        return connection.interface

    @property
    def running(self) -> bool:
        return self._connection is not None and not self._connection.ended

    @property
    def spent(self) -> bool:
        """Whether it has ended again after it was started for the second time: it will not run any more."""
        return self._closed or (self._restarted and not self.running and self._opening is None)

    async def call(
        self,
        tool: str,
        arguments: dict[str, Json],
        meta: dict[str, Json],
        progress: ProgressFnT | None = None,
    ) -> CallToolResult:
        """Call a tool by the server's own name; `meta` goes with the request. Raises ServerFailure."""

        def may_repeat(connection: McpConnection) -> bool:
            known = connection.interface.get(tool)
            return known is not None and known.repeatable

        return await self._asked(
            tool, lambda connection: connection.call(tool, arguments, meta, progress), may_repeat
        )

    async def read(self, request: str, given: Mapping[str, Json]) -> Json:
        """Ask for what the server has besides tools, as `McpConnection.read`; raises ServerFailure."""
        return await self._asked(request, lambda connection: connection.read(request, given), lambda _: True)

    async def _asked(
        self,
        what: str,
        ask: Callable[[McpConnection], Awaitable[T]],
        may_repeat: Callable[[McpConnection], bool],
    ) -> T:
        connection = await self._connected()
        try:
            return await ask(connection)
        except SessionEnded as ended:
            lost, undone = str(ended), ended.forgotten
        if not undone and not may_repeat(connection):
            ending = f"{self.settings.title} ended during `{what}` {lost}".rstrip()
            message = f"{ending}; whether the call was carried out is unknown"
            raise ServerFailure(message, ToolKind.OUTCOME_UNKNOWN)
        connection = await self._connected()
        try:
            return await ask(connection)
        except SessionEnded as ended:
            message = f"{self.settings.title} ended for the second time during `{what}` {ended}".rstrip()
            raise ServerFailure(message, ToolKind.SERVER_UNAVAILABLE) from None

    async def version(self) -> str:
        return (await self._connected()).server_version

    async def close(self) -> None:
        """End the server, whatever it is doing. Nothing starts it again."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()
        if self._opening is not None:
            await asyncio.wait([self._opening])

    async def _connected(self) -> McpConnection:
        """The session, opened if there is none. All who ask at the same time wait for the same attempt."""
        if self._connection is not None and not self._connection.ended and self._opening is None:
            return self._connection
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
            self._opening.add_done_callback(self._opened)
        return await asyncio.shield(self._opening)

    async def _open(self) -> McpConnection:
        before = self._connection
        dead = before is not None and not before.forgotten
        if self._closed or (dead and self._restarted):
            what = "is ended" if self._closed else "ended again after it was started for the second time"
            raise ServerFailure(f"{self.settings.title} {what}", ToolKind.SERVER_UNAVAILABLE)
        if before is not None:
            self._restarted = self._restarted or dead
            await before.close()
        connection = McpConnection(self.settings, self._listener)
        # Kept before it is open, so that the end of the run finds a server that is just being started.
        self._connection = connection
        try:
            await connection.open()
        except BaseException:
            self._connection = before
            raise
        return connection

    def _opened(self, opening: asyncio.Task[McpConnection]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # Looked at: whoever asked may have been cancelled.

"""Looks at servers from outside of any run: starts them, reads what they offer, and ends them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping

from concerto.contracts.lock_file import LockedServer
from concerto.escape import visible_line
from concerto.runtime.mcp.connection import Listener, McpConnection, ServerFailure
from concerto.runtime.mcp.settings import ServerSettings


def look_at(
    servers: Mapping[str, ServerSettings],
    environment: Mapping[str, str],
    note: Callable[[str], None] = lambda text: None,
) -> dict[str, LockedServer | ServerFailure]:
    """What each server offers now, or why it cannot be told; all of them at the same time."""
    listener = Listener(note, _warn, dict(environment))

    async def look() -> list[LockedServer | ServerFailure]:
        return await asyncio.gather(*[_look(settings, listener) for settings in servers.values()])

    return dict(zip(servers, asyncio.run(look()), strict=True))


async def _look(settings: ServerSettings, listener: Listener) -> LockedServer | ServerFailure:
    connection = McpConnection(settings, listener)
    try:
        await connection.open()
        return LockedServer(connection.server_version, connection.interface)
    except ServerFailure as failure:
        return failure
    finally:
        await connection.close()


def _warn(text: str) -> None:
    sys.stderr.write(f"warning: {visible_line(text)}\n")

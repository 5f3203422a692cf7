"""A client that knows tasks, by the official SDK's own means for extensions."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp import Client
from mcp.client import advertise
from mcp.types import Request, RequestParams, Result
from pydantic import ConfigDict

EXTENSION = "io.modelcontextprotocol/tasks"
ENDED = ("completed", "failed", "cancelled")


class Params(RequestParams):
    model_config = ConfigDict(extra="allow")


class Whole(Result):
    """A result with whatever the server says."""

    model_config = ConfigDict(extra="allow")


def knowing_tasks(server: Any, **options: Any) -> Client:
    return Client(server, mode="auto", extensions=[advertise(EXTENSION)], **options)


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """What a request gives, as it came."""
    request: Any = Request[Params, str](method=method, params=Params(**params))
    found = await client.session.send_request(request, Whole)
    return found.model_dump(by_alias=True, exclude_none=True)


async def begin(client: Client, tool: str, **arguments: Any) -> str:
    """The id of a new task."""
    created = await ask(client, "tools/call", name=tool, arguments=arguments)
    assert created["resultType"] == "task", created
    return str(created["taskId"])


async def until(client: Client, task: str, *statuses: str) -> dict[str, Any]:
    """What is said of a task once it has one of these statuses."""
    while (found := await ask(client, "tasks/get", taskId=task))["status"] not in statuses:
        assert found["status"] not in ENDED, found
        await asyncio.sleep(found["pollIntervalMs"] / 1000)
    return found


async def ended(client: Client, task: str) -> dict[str, Any]:
    return await until(client, task, *ENDED)

"""Server-sent events, and work that ends when its client leaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from concerto.journal.databases import StoreError
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import cancel
from concerto.serving.errors import ApiError, store_fault

T = TypeVar("T")
_MOST = 2**53
_QUIET_SECONDS = 15.0
"""After which a comment shows proxies that the stream still lives."""


class EventStream(Response):
    """A response of server-sent events, made no faster than the client reads, and no longer than it
    stays."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[str]) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._sent = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel([sending, leaving])
        if not sending.cancelled() and (error := sending.exception()) is not None:
            raise error

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        living = asyncio.create_task(self._never_quiet(send))
        try:
            async for piece in self._events:
                await send({"type": "http.response.body", "body": piece.encode(), "more_body": True})
                self._sent += 1
        except StoreError as error:  # Who reads on later comes back with the last number.
            store_fault(error)
        finally:
            await cancel([living])
        await send({"type": "http.response.body", "body": b""})

    async def _never_quiet(self, send: Send) -> None:
        while True:
            sent = self._sent
            await asyncio.sleep(_QUIET_SECONDS)
            if sent == self._sent:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})


def event_stream(events: AsyncIterator[dict[str, Json]]) -> EventStream:
    """Events that have a `type`, each of which is one message; the last one is `[DONE]`."""

    async def written() -> AsyncIterator[str]:
        async for event in events:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        yield "data: [DONE]\n\n"

    return EventStream(written())


async def unless_left(request: Request, work: Awaitable[T]) -> T:
    """What work gives for a client that waits for it; the work ends if the client leaves."""

    async def watch() -> None:
        await _left(request.receive)
        stay.reschedule(0)

    try:
        async with asyncio.timeout(None) as stay:  # Its time is up when the client leaves.
            watching = asyncio.create_task(watch())
            try:
                return await work
            finally:
                watching.cancel()
    except TimeoutError:
        if not stay.expired():
            raise
        raise ApiError("the client has left", 499, code="client_left") from None


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def flag(request: Request, name: str) -> bool:
    """A parameter of the query that is true or false."""
    return request.query_params.get(name, "false").lower() == "true"


def number(request: Request, name: str, otherwise: int) -> int:
    """A parameter of the query that is a number."""
    given = request.query_params.get(name)
    return otherwise if given is None else number_in(given, name)


def number_in(text: str, name: str) -> int:
    """The number that a client has written; what is beyond all that there can be stands for its end."""
    try:
        return max(-1, min(int(text), _MOST))
    except ValueError:
        raise ApiError(f"`{name}` is no number", code="invalid_type", param=name) from None

"""Connection pool: the HTTP clients of one server, one for each request under way, whose connection is kept
for a later one.

A pool looks through all of its connections at every request, which makes many of them slow.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from ssl import SSLContext
from typing import Protocol

import httpcore2
import httpx2

from concerto.runtime.llm.sockets import connect

FAILURES = (
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
)
TIMEOUTS = (httpx2.TimeoutException, httpcore2.TimeoutException)

_IDLE_SECONDS = 5.0
"""How long a connection is kept without a request: servers close idle ones, and a request may cross that."""

_MOST_IDLE = 16
"""So many connections are kept for the runs to come of a process that has many."""


class Client(Protocol):
    """Sends one request at a time."""

    async def send(self, request: httpcore2.Request) -> httpx2.Response:
        """A response of which nothing has been read but the headers. Errors: FAILURES and TIMEOUTS."""

    async def close(self) -> None: ...


class Clients:
    """`make` makes a client. How many requests run at once is the program's affair."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._made: list[Client] = []
        self._idle: list[Client] = []

    @contextmanager
    def one(self) -> Iterator[Client]:
        """The client that became idle last, or a new one."""
        if self._idle:
            client = self._idle.pop()
        else:
            client = self._make()
            self._made.append(client)
        try:
            yield client
        finally:
            self._idle.append(client)

    async def shed(self) -> None:
        """Close what a crowd has left behind."""
        while len(self._idle) > _MOST_IDLE:
            client = self._idle.pop(0)
            self._made.remove(client)
            await client.close()

    async def close(self) -> None:
        clients, self._made, self._idle = self._made, [], []
        for client in clients:
            await client.close()


class DirectClient:
    """One connection to a server, made again when it was lost."""

    def __init__(self, tls: SSLContext) -> None:
        self._tls = tls
        self._connection: httpcore2.AsyncHTTP11Connection | None = None

    async def send(self, request: httpcore2.Request) -> httpx2.Response:
        connection = await self._connected(request)
        response = await connection.handle_async_request(request)
        return httpx2.Response(response.status, headers=response.headers, stream=_Body(response))

    async def _connected(self, request: httpcore2.Request) -> httpcore2.AsyncHTTP11Connection:
        connection = self._connection
        if connection is not None and not connection.is_closed():
            if not connection.has_expired():
                return connection
            await connection.aclose()
        seconds = request.extensions.get("timeout", {}).get("connect")
        stream = await connect(request.url, self._tls, seconds)
        self._connection = connection = httpcore2.AsyncHTTP11Connection(
            request.url.origin, stream, keepalive_expiry=_IDLE_SECONDS
        )
        return connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._response.aiter_stream()

    async def aclose(self) -> None:
        await self._response.aclose()


class ProxiedClient:
    """Sends requests as the environment's proxies have it."""

    def __init__(self, tls: SSLContext) -> None:
        self._client = httpx2.AsyncClient(verify=tls, timeout=None, follow_redirects=False, trust_env=True)

    async def send(self, request: httpcore2.Request) -> httpx2.Response:
        return await self._client.send(for_httpx(request), stream=True)

    async def close(self) -> None:
        await self._client.aclose()


def for_httpx(request: httpcore2.Request) -> httpx2.Request:
    """The same request, as a client of httpx2 takes it."""
    url = httpx2.URL(bytes(request.url).decode("ascii"))
    stream = request.stream
    assert isinstance(stream, Iterable)
    return httpx2.Request(
        request.method.decode(),
        url,
        headers=request.headers,
        content=b"".join(stream),
        extensions=request.extensions,
    )

"""Connection pool: the HTTP clients of one server, one for each request under way, whose connection is kept
for a later one.

A pool looks through all of its connections at every request, which makes many of them slow.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from ssl import SSLContext
from typing import Protocol

from concerto.records import frozen
from concerto.runtime.llm.http11 import HttpConnection
from concerto.runtime.llm.sockets import connect

_MOST_IDLE = 16
"""So many connections are kept for the runs to come of a process that has many."""


@frozen
class Endpoint:
    """What a URL leads to: a host and its port, and what is asked of it."""

    url: str
    host: str
    port: int
    secure: bool
    target: bytes


@frozen
class Post:
    """A request as it is sent, whose connection may take so many `seconds` to make."""

    place: Endpoint
    fields: Mapping[bytes, bytes]
    content: bytes
    seconds: float | None = None


class Answered(Protocol):
    """An answer of which nothing has been read but the head."""

    @property
    def status_code(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By names in lower case."""

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The content as it arrives, unpacked. Raises HttpFailure."""

    async def aclose(self) -> None: ...


class Client(Protocol):
    """Sends one request at a time."""

    async def send(self, post: Post) -> Answered:
        """Raises HttpFailure."""

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

    def __init__(self, tls: SSLContext | None) -> None:
        self._tls = tls
        self._connection: HttpConnection | None = None

    async def send(self, post: Post) -> Answered:
        connection, place = self._connection, post.place
        if connection is None or not connection.is_usable:
            await self.close()
            tls = self._tls if place.secure else None
            connection = HttpConnection(await connect(place.host, place.port, tls, post.seconds))
            self._connection = connection
        answer = connection.ask("POST", place.target, post.fields.items(), post.content)
        del post  # It is sent, may be long, and the answer is long in coming.
        return await answer

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

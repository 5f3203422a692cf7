"""The HTTP clients of one server.

A client looks through all of its connections at every request, which makes many of them slow. So each has
few, and another one is made when all are busy.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import httpx2

from concerto.records import record

_MOST_AT_ONCE = 8


@record(frozen=True)
class Client:
    """`send` gives a response of which nothing has been read but the headers."""

    send: Callable[[httpx2.Request], Awaitable[httpx2.Response]]
    close: Callable[[], Awaitable[None]]


class Clients:
    """`make` makes a client. How many requests run at once is the program's affair."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._clients: list[Client] = []
        self._busy: list[int] = []
        """How many requests each client has under way."""

    @contextmanager
    def one(self) -> Iterator[Client]:
        """The first client that has room for a request."""
        place = next((place for place, count in enumerate(self._busy) if count < _MOST_AT_ONCE), None)
        if place is None:
            place = len(self._clients)
            self._clients.append(self._make())
            self._busy.append(0)
        self._busy[place] += 1
        try:
            yield self._clients[place]
        finally:
            self._busy[place] -= 1

    async def close(self) -> None:
        clients, self._clients, self._busy = self._clients, [], []
        for client in clients:
            await client.close()

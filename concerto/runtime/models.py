"""Model calls: performs a ModelCall on the wire of its connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from concerto.effects.gate import Waiting
from concerto.effects.kinds import ModelCall
from concerto.runtime.connections import Connection
from concerto.runtime.providers import BadReply
from concerto.runtime.requests import Reply

if TYPE_CHECKING:
    from concerto.runtime.http import ModelServer
    from concerto.runtime.throttle import Throttle


class Models:
    """The servers that a run talks to, each met at its first call."""

    def __init__(
        self, environment: Mapping[str, str], prices: Mapping[str, tuple[float, float]], waiting: Waiting
    ) -> None:
        self._environment = environment
        self._prices = prices
        self._waiting = waiting
        self._servers: dict[str, tuple[ModelServer, Throttle]] = {}

    async def call(self, effect: ModelCall, connection: Connection) -> Reply:
        server, throttle = self.server(connection)
        async with throttle.turn():
            data = await server.ask(server.provider.encode(effect.request), effect.request.timeout)
        try:
            reply = server.provider.decode(data)
        except BadReply as bad:
            raise server.invalid(str(bad)) from None
        except (AttributeError, TypeError, KeyError, IndexError):
            raise server.invalid("its JSON has not the shape of an answer") from None
        throttle.spend(reply.tokens_in + reply.tokens_out)
        return self.priced(reply, effect.request.model)

    def server(self, connection: Connection) -> tuple[ModelServer, Throttle]:
        found = self._servers.get(connection.name)
        if found is None:
            from concerto.runtime.http import ModelServer
            from concerto.runtime.throttle import Throttle

            found = ModelServer(connection, self._environment), Throttle(connection, self._waiting)
            self._servers[connection.name] = found
        return found

    def priced(self, reply: Reply, model: str) -> Reply:
        """The reply with its cost, if the model's price is known."""
        price = self._prices.get(model) or self._prices.get(reply.model)
        if price is None:
            return reply
        cost = (reply.tokens_in * price[0] + reply.tokens_out * price[1]) / 1_000_000
        return replace(reply, cost_usd=cost)

    async def close(self) -> None:
        servers, self._servers = self._servers, {}
        for server, _ in servers.values():
            await server.close()

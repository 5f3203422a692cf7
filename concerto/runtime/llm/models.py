"""Model calls: performs a ModelCall on the wire of its connection, at once or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from itertools import chain
from typing import TYPE_CHECKING

from concerto.effects.error_kinds import AgentKind
from concerto.effects.gate import Waiter
from concerto.effects.kinds import ModelCall
from concerto.json_data import Json
from concerto.natives.json_text import loads, quick_object
from concerto.records import replace
from concerto.runtime.llm.connections import Connection
from concerto.runtime.llm.prices import Prices, cost_of, most_tokens
from concerto.runtime.llm.providers import (
    BadReply,
    End,
    Provider,
    StreamPart,
    StreamReader,
    Unsupported,
    WireCall,
)
from concerto.runtime.llm.providers.reading import error_in, error_text, status_in
from concerto.runtime.llm.requests import Reply, Request
from concerto.runtime.llm.usual_line import UsualLine
from concerto.runtime.run.agent_failures import agent_failure
from concerto.vm.values import ErrorValue, Raised

if TYPE_CHECKING:
    from concerto.runtime.llm.http import ModelServer
    from concerto.runtime.llm.throttle import Sink, Throttle

_WHOLE_TIMEOUT = 10.0
"""How long the end of a stream is waited for, and the count of its tokens, when the answer is whole."""


class Models:
    """The servers that a run talks to, each met at its first call. Connections to them are those of all runs
    in the event loop."""

    def __init__(
        self,
        environment: Mapping[str, str],
        prices: Prices,
        waiting: Waiter,
        max_response_mb: float | None = None,
        shared: dict[str, ModelServer] | None = None,
    ) -> None:
        """`shared` are servers by connection whose limits hold for other runs too, and whoever has them
        closes."""
        self._environment = environment
        self._max_response_mb = max_response_mb
        self._prices = prices
        self._waiting = waiting
        self._shared = shared
        self._servers: dict[str, tuple[ModelServer, Throttle | None]] = {}

    async def call(
        self, effect: ModelCall, connection: Connection, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """`headers` go with the request, beside those of the provider and the connection."""
        server, throttle = self._server(connection)
        call = _encoded(server.provider, effect.request, connection)
        if headers:
            call = replace(call, headers={**headers, **call.headers})
        if throttle is None:
            reply = await _answered(server, call, effect.request, effect.sink)
        else:
            reply = await _in_turn(throttle, server, call, effect)
        return self._priced(reply, effect.request.model)

    async def close(self) -> None:
        servers, self._servers = self._servers, {}
        for server, _ in servers.values():
            if self._shared is None:
                from concerto.runtime.llm.shared_servers import shared_servers

                await shared_servers().give_back(server)
            elif self._shares(server):
                await server.shed()
            else:
                await server.close()

    def _server(self, connection: Connection) -> tuple[ModelServer, Throttle | None]:
        found = self._servers.get(connection.name)
        if found is None:
            server = self._met(connection)
            throttle = server.throttle if self._shares(server) else _throttle(connection, self._waiting)
            found = self._servers[connection.name] = server, throttle
        return found

    def _shares(self, server: ModelServer) -> bool:
        return self._shared is not None and self._shared.get(server.connection.name) is server

    def _met(self, connection: Connection) -> ModelServer:
        """The server of a connection that other runs have met, or one of our own."""
        if self._shared is None:
            from concerto.runtime.llm.shared_servers import shared_servers

            return shared_servers().take(connection, self._environment, self._max_response_mb)
        shared = self._shared.get(connection.name)
        if shared is not None and shared.serves(connection, self._environment):
            return shared
        from concerto.runtime.llm.http import ModelServer

        server = ModelServer(connection, self._environment, self._max_response_mb)
        if shared is None:
            from concerto.runtime.concurrency.waiting import LoopWaiting

            self._shared[connection.name] = server
            # Its limits are those of all runs, and wait for none of them.
            server.throttle = _throttle(connection, LoopWaiting())
        return server

    def _priced(self, reply: Reply, model: str) -> Reply:
        """The reply with its cost, if the model's price is known."""
        cost = cost_of(reply, model, self._prices)
        return reply if cost is None else replace(reply, cost_usd=cost)


def _throttle(connection: Connection, waiting: Waiter) -> Throttle | None:
    if not connection.limited:
        return None
    from concerto.runtime.llm.throttle import Throttle

    return Throttle(connection, waiting)


def _encoded(provider: Provider, request: Request, connection: Connection) -> WireCall:
    try:
        call = provider.encode(request)
    except Unsupported as unsupported:
        message = f"connection `{connection.name}`: {unsupported}"
        raise agent_failure(message, AgentKind.UNSUPPORTED, provider=connection.name) from None
    if request.options is None or not request.options.extra:
        return call
    return replace(call, body=_merged(call.body, request.options.extra))


def _merged(body: Mapping[str, Json], extra: Mapping[str, Json]) -> Mapping[str, Json]:
    """The body with what an agent adds to it; tables are joined, all else is taken from `extra`."""
    joined = {
        key: _merged(body[key], value)
        if isinstance(value, dict) and isinstance(body.get(key), dict)
        else value
        for key, value in extra.items()
    }
    return {**body, **joined}


async def _in_turn(throttle: Throttle, server: ModelServer, call: WireCall, effect: ModelCall) -> Reply:
    from concerto.runtime.llm.throttle import read_ahead

    request, sink = effect.request, effect.sink
    # Who reads a stream may ask meanwhile, and must not wait for tokens that it holds.
    most = 0 if sink is not None else sum(most_tokens(request))
    async with nullcontext() if sink is None else read_ahead(sink) as taking, throttle.turn(most):
        reply = await _answered(server, call, request, taking)
        throttle.spend(reply.tokens_in + reply.tokens_out)
    return reply


async def _answered(server: ModelServer, call: WireCall, request: Request, sink: Sink | None) -> Reply:
    if sink is not None:
        return await _streamed(server, call, request, sink)
    data = await server.request(call, request.timeout)
    try:
        return _consistent(server.provider.decode(data))
    except _UNREADABLE as error:
        raise _misread(server, error, data) from None


async def _streamed(server: ModelServer, call: WireCall, request: Request, sink: Sink) -> Reply:
    """Give the parts of an answer away as they come. After the first one nothing can be tried again."""
    reader = server.provider.stream()
    begun = False
    event: Json = None
    try:
        async with server.stream(call, request.timeout) as lines:
            arriving = _Events(server, lines, reader)
            while (events := await _next(server, arriving, reader.end, request.timeout)) is not None:
                parts: list[StreamPart] = []
                try:
                    for event in events:
                        if type(event) is str:
                            parts.append(event)
                            continue
                        parts += reader.feed(event)
                        if event.get("error"):
                            raise BadReply("the stream failed")
                except _UNREADABLE as misread:
                    raise _misread(server, misread, event) from None
                finally:
                    if parts:
                        begun = True
                        await sink(parts)
        try:
            reply = reader.reply()
            if reply is None:
                raise BadReply("the stream ended before the answer did")
            return _consistent(reply)
        except _UNREADABLE as misread:
            raise _misread(server, misread, event) from None
    except Raised as raised:
        error = raised.value
        if begun and isinstance(error, ErrorValue) and error.type_name == "AgentError":
            message = f"the stream broke off: {error.message}"
            raise agent_failure(message, AgentKind.STREAM_BROKEN, provider=server.connection.name) from None
        raise


async def _next(
    server: ModelServer, arriving: _Events, end: End, timeout: float | None
) -> Iterator[Json] | None:
    """The events that come next; None if none has to: many a server leaves the connection open."""
    match end:
        case End.OPEN:
            return await server.in_time(arriving.next(), timeout)
        case End.WHOLE:
            seconds = server.seconds(timeout)
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, _WHOLE_TIMEOUT)):
                    return await arriving.next()
    return None


def _consistent(reply: Reply) -> Reply:
    """The reply; BadReply if it speaks of calls that are not there."""
    calls = reply.message.calls
    if reply.stop_reason == "tool_calls" and not calls:
        raise BadReply("the answer ends with tool calls and has none")
    if not all(call.name for call in calls):
        raise BadReply("a tool call has no name")
    return reply


class _Events:
    """The JSON of each event of a stream: the data of server-sent events, or whole lines. An event of one
    line is given away before the line that ends it."""

    def __init__(self, server: ModelServer, lines: AsyncIterator[list[str]], reader: StreamReader) -> None:
        self._server = server
        self._lines = lines
        self._reader = reader
        self._usual = UsualLine()
        self._name = ""
        self._data: list[str] = []
        self._done = False

    async def next(self) -> Iterator[Json] | None:
        """The events that have arrived by now, one at least; None at the end, which `[DONE]` is too. They are
        read when they are taken, and have to be before the next ones. A text is an event that was read."""
        while not self._done:
            arrived = await anext(self._lines, None)
            # An empty line ends the last event.
            events = self._read([""] if arrived is None else arrived)
            first = next(events, None)
            if first is not None:
                return chain((first,), events)
            if arrived is None:
                break
        return None

    def _read(self, lines: Iterable[str]) -> Iterator[Json]:
        json_lines = self._server.provider.json_lines
        data = self._data
        for line in lines:
            if not line and not data:
                continue
            if (text := self._usual.text_of(line)) and not data and not self._name:
                self._reader.add(text)
                yield text
                continue
            alone = line[:7] == "data: {" and not data and not json_lines
            event = quick_object(line, 6) if alone else None
            alone = event is not None
            if event is None:
                event = self._ended(line, json_lines=json_lines)
                if self._done:
                    return
                if event is None:
                    continue
            if self._name:
                name, self._name = self._name, ""
                if isinstance(event.get("type"), str) and event["type"] != name:
                    message = f"an event `{name[:80]}` says that it is `{event['type'][:80]}`"
                    raise self._server.invalid(message)
            yield event
            self._usual.learn(line, self._reader.text_alone if alone else None)

    def _ended(self, line: str, *, json_lines: bool) -> Json:
        """The event that a line ends; None if it ends none."""
        server, data = self._server, self._data
        field, text = "data", line.strip()
        if not json_lines:
            field, _, text = line.partition(":")
            text = text.strip()
        if field == "event":
            if self._name:
                raise server.invalid(f"an event `{self._name[:80]}` has no data")
            self._name = text
        elif field not in _FIELDS:
            # Standards let readers skip it; here it is a line whose beginning was lost.
            raise server.invalid(f"a line of the stream is none of an event: `{line[:80]}`")
        elif field == "data" and text == "[DONE]":
            self._done = True
        elif field == "data" and text:
            data.append(text)
        ends = not line.strip()
        if not data or (len(data) > 1 and not ends):
            return None
        try:
            event = loads("\n".join(data))
        except ValueError:
            if not ends and not json_lines:
                return None
            raise server.invalid(f"an event is no JSON: `{data[0][:80]}`") from None
        if not isinstance(event, dict):
            raise server.invalid("an event is no JSON object")
        data.clear()
        return event


_FIELDS = frozenset({"data", "id", "retry", ""})
"""Of server-sent events, beside `event`; a line that begins with a colon is a comment."""

_UNREADABLE = (BadReply, AttributeError, TypeError, ValueError, LookupError, RecursionError)
"""What a provider raises for an answer that is none."""


def _misread(server: ModelServer, error: Exception, answer: Json) -> Raised:
    """`answer` may say in words what is the matter: some servers refuse with the status of an answer."""
    told = error_in(answer)
    status = status_in(told)
    if status is not None:
        return server.refused(status, error_text(told))
    why = str(error) if isinstance(error, BadReply) else "its JSON has not the shape of an answer"
    said = error_text(told) if told else ""
    return server.invalid(f"{why}; it says: {said}" if why and said and said not in why else why or said)

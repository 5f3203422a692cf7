"""The server: an application on a port until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from http import HTTPStatus
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected

from concerto.runtime.serving import IDLE_SECONDS
from concerto.serving.bodies import MOST_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BACKLOG = 2048
_DRAIN_SECONDS = 10
"""How long requests that are under way have to come to their end when the server stops."""
_MOST_AROUND = 64 * 1024
"""Bytes that are no content, in a head or behind a body."""
_HEAD_SECONDS = 30.0
"""In which a head comes, from when its connection is made or it begins."""


_JSON_LOG = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"json": {"class": "concerto.serving.traffic.JsonLog"}},
    "loggers": {"uvicorn": {"handlers": ["json"], "level": "WARNING", "propagate": False}},
}


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; raises OSError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends what is written at once only where the protocol is said.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def serve(app: ASGIApp, listening: socket.socket, *, log_json: bool = False) -> None:
    """Serve until SIGINT or SIGTERM: requests that are under way come to their end first."""
    config = uvicorn.Config(
        _Refusing(app),
        http=BoundedHeads,
        log_level="warning",
        log_config=_JSON_LOG if log_json else uvicorn.config.LOGGING_CONFIG,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        timeout_keep_alive=IDLE_SECONDS,
        server_header=False,
        ws_max_size=MOST_BYTES,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_told)
    server = _Server(config)
    # Once it has stopped, the server raises the signal again for whoever was there before.
    signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
    asyncio.run(server.serve(sockets=[listening]))


def _is_told(record: logging.LogRecord) -> bool:
    """Not of each request that was still under way at the end where it was: how many is told before."""
    return record.exc_info is None or not isinstance(record.exc_info[1], asyncio.CancelledError)


class _Server(uvicorn.Server):
    """A server that says where it is when it can be stopped."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets and not self.should_exit:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            sys.stderr.write(f"serving at http://{shown}:{port}\n")
            sys.stderr.flush()


class _Refusing:
    """An ASGI application around another, for uvicorn: it takes a WebSocket that was refused by an answer of
    HTTP for one that was forgotten, and says so, unless its client has gone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = False

        async def told(message: Message) -> None:
            nonlocal refused
            refused = message["type"].startswith("websocket.http.response.")
            await send(message)

        await self._app(scope, receive, told)
        if refused:
            raise ClientDisconnected


class BoundedHeads(HttpToolsProtocol):
    """The protocol of uvicorn, which takes heads of any length and waits for their end for ever: connections
    whose heads are too long or too slow are ended."""

    _timer: asyncio.TimerHandle | None = None
    _around = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._has_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._around += len(data)
        super().data_received(data)
        if self._around > _MOST_AROUND and not self.transport.is_closing():
            self._end(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._wait_for_head()

    def on_headers_complete(self) -> None:
        self._has_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._around = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._around = 0
        super().on_message_complete()

    def _wait_for_head(self) -> None:
        self._timer = self.loop.call_later(_HEAD_SECONDS, self._end, HTTPStatus.REQUEST_TIMEOUT)

    def _has_head(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, status: HTTPStatus) -> None:
        self._has_head()
        refusal = f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        self.transport.write(refusal.encode())
        self.transport.close()

"""Trace context of HTTP requests: what a run does for one stands in the trace of its caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from opentelemetry import context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_PROPAGATOR = TraceContextTextMapPropagator()


class CallersTrace:
    """An ASGI application around another, in which the span that a request names in `traceparent` is
    current."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope.get("headers", ())
        }
        if "traceparent" not in headers:
            await self._app(scope, receive, send)
            return
        before = context.attach(_PROPAGATOR.extract(headers))
        try:
            await self._app(scope, receive, send)
        finally:
            context.detach(before)

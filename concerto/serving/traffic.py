"""Traffic: how many requests are under way and for how long, what is counted of them, and a line of log for
each."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from bisect import bisect_left
from collections import Counter
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from concerto.records import record
from concerto.serving.callers import CALLER, OPEN
from concerto.serving.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Of the buckets of durations, in seconds."""


@record(frozen=True)
class Limits:
    """`requests` may be under way at once, each for so many `seconds`. With `log_json` each leaves a line of
    JSON on the standard error."""

    requests: int = 1000
    seconds: float = 600.0
    log_json: bool = False


NO_LIMITS = Limits()


class Traffic:
    """An ASGI application around another, which counts and limits the requests to it."""

    def __init__(self, app: ASGIApp, limits: Limits, counted: Counts) -> None:
        self._app = app
        self._limits = limits
        self._counts = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        begun, status, counts = perf_counter(), 0, self._counts

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        counts.under_way += 1
        try:
            if counts.under_way > self._limits.requests and scope["path"] not in OPEN:
                await _busy(scope, receive, told)
                return
            limit = self._limits.seconds if scope.get("method") == "POST" else None
            try:
                async with asyncio.timeout(limit):
                    await self._app(scope, receive, told)
            except TimeoutError:
                if status:  # What has begun can only be broken off, which its client sees.
                    return
                message = f"the request took longer than {self._limits.seconds:g} seconds"
                refusal = ApiError(message, 504, kind="server_error", code="timeout")
                await JSONResponse({"error": refusal.error}, 504)(scope, receive, told)
        finally:
            counts.under_way -= 1
            seconds = perf_counter() - begun
            counts.add(scope, status, seconds)
            if self._limits.log_json:
                _log(scope, status, seconds)


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    refusal = ApiError("too many requests are under way", 503, kind="server_error", code="overloaded")
    answer = JSONResponse({"error": refusal.error}, 503, {"retry-after": "1"})
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1013, "reason": "overloaded"})
    else:
        await answer(scope, receive, send)


class Counts:
    """What is known of the requests to a server."""

    def __init__(self) -> None:
        self.under_way = 0
        self._paths: dict[object, str] = {}
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._seconds: dict[str, float] = {}
        self._buckets: dict[str, list[int]] = {}

    def route(self) -> Route:
        async def metrics(request: Request) -> PlainTextResponse:
            return PlainTextResponse(self.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

        return Route("/metrics", metrics)

    def know(self, routes: Sequence[BaseRoute]) -> None:
        """Count requests by these routes, whatever the ids in their paths are."""
        self._paths = {getattr(route, "endpoint", None): getattr(route, "path", "") for route in routes}

    def add(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._paths.get(scope.get("endpoint"), "other")
        self._requests[scope.get("method", "WEBSOCKET"), path, status] += 1
        self._seconds[path] = self._seconds.get(path, 0.0) + seconds
        buckets = self._buckets.setdefault(path, [0] * (len(_BOUNDS) + 1))
        buckets[bisect_left(_BOUNDS, seconds)] += 1

    def text(self) -> str:
        """All of it, as Prometheus reads it."""
        lines = ["# TYPE concerto_http_requests_total counter"]
        for (method, path, status), count in sorted(self._requests.items()):
            labels = f'method="{method}",path="{path}",status="{status}"'
            lines.append(f"concerto_http_requests_total{{{labels}}} {count}")
        lines += ["# TYPE concerto_http_requests_under_way gauge"]
        lines += [f"concerto_http_requests_under_way {self.under_way}"]
        lines += ["# TYPE concerto_http_request_seconds histogram"]
        for path, buckets in sorted(self._buckets.items()):
            total = 0
            for bound, count in zip([*map(str, _BOUNDS), "+Inf"], buckets, strict=True):
                total += count
                lines.append(f'concerto_http_request_seconds_bucket{{path="{path}",le="{bound}"}} {total}')
            lines.append(f'concerto_http_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}')
            lines.append(f'concerto_http_request_seconds_count{{path="{path}"}} {total}')
        return "\n".join(lines) + "\n"


def _log(scope: Scope, status: int, seconds: float) -> None:
    client = scope.get("client")
    _write(
        {
            "level": "info",
            "method": scope.get("method", "WEBSOCKET"),
            "path": scope["path"],
            "status": status,
            "ms": round(seconds * 1000, 3),
            "caller": scope.get(CALLER, ""),
            "client": client[0] if client else "",
        }
    )


def _write(line: dict[str, object]) -> None:
    sys.stderr.write(json.dumps({"time": datetime.now(UTC).isoformat(), **line}) + "\n")
    sys.stderr.flush()


class JsonLog(logging.Handler):
    """Writes what the server itself has to say as lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        line: dict[str, object] = {"level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            line["trace"] = logging.Formatter().formatException(record.exc_info)
        _write(line)

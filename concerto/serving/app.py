"""The application: all fronts of a program, as one ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import time
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from concerto.journal.databases import StoreError
from concerto.serving.ag_ui import AgUi
from concerto.serving.callers import Admission
from concerto.serving.chat_completions import ChatCompletions
from concerto.serving.errors import ApiError, answer_error, answer_fault, answer_without_store, not_found
from concerto.serving.event_log import EventLog
from concerto.serving.mcp_front import McpFront
from concerto.serving.openapi import openapi_routes
from concerto.serving.page import page_routes
from concerto.serving.response_store import ResponseStore
from concerto.serving.responses import Responses
from concerto.serving.runs import Runs
from concerto.serving.traffic import NO_LIMITS, Counts, Limits, Traffic
from concerto.serving.websockets import ResponseSocket

if TYPE_CHECKING:
    from concerto.serving.answers import ServedProgram


def application(served: ServedProgram, tokens: Sequence[str] = (), limits: Limits = NO_LIMITS) -> Starlette:
    """All that clients may ask. With `tokens` each of them is a caller of its own, and needed."""
    counts, mcp = Counts(), McpFront(served)
    store = ResponseStore(served.runs.store.database)
    news = EventLog(store)
    responses = Responses(served, store, news)
    runs = Runs(served, store, news)

    async def talk(socket: WebSocket) -> None:
        await ResponseSocket(responses, socket).serve()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        responses.recover()
        runs.recover()
        yield
        await responses.close()
        await runs.close()
        await mcp.close()
        await served.close()

    app = Starlette(
        routes=[
            *responses.routes(),
            WebSocketRoute("/v1/responses", talk),
            *ChatCompletions(served).routes(),
            *runs.routes(),
            *AgUi(served).routes(),
            *mcp.routes(),
            counts.route(),
            *page_routes(),
            *openapi_routes(),
            *_model_routes(served),
            *_health_routes(store),
        ],
        exception_handlers={
            ApiError: answer_error,
            HTTPException: _answer_refusal,
            StoreError: answer_without_store,
            Exception: answer_fault,
        },
        middleware=[
            Middleware(Traffic, limits=limits, counted=counts),
            Middleware(Admission, tokens=tokens),
            *_tracing(served),
        ],
        lifespan=lifespan,
    )
    counts.know(app.routes)
    return app


def _model_routes(served: ServedProgram) -> list[Route]:
    """Agents, as the models that clients of OpenAI ask for."""
    begun = int(time())

    def model(name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": begun, "owned_by": "concerto"}

    async def list_models(request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": [model(name) for name in served.agents]})

    async def get_model(request: Request) -> JSONResponse:
        name = request.path_params["name"]
        if name not in served.agents:
            raise not_found(f"there is no agent `{name}`", "model_not_found")
        return JSONResponse(model(name))

    return [Route("/v1/models", list_models), Route("/v1/models/{name}", get_model)]


def _health_routes(store: ResponseStore) -> list[Route]:
    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    async def ready(request: Request) -> JSONResponse:
        try:
            store.is_over("")
        except StoreError:
            raise ApiError("the store cannot be read", 503, kind="server_error", code="not_ready") from None
        return JSONResponse({"status": "ready"})

    return [Route("/health", health), Route("/healthz", health), Route("/readyz", ready)]


def _tracing(served: ServedProgram) -> list[Middleware]:
    """Where spans are made and can be: a run itself says what is missing."""
    if not served.sends_telemetry:
        return []
    try:
        from concerto.runtime.telemetry.callers import CallersTrace
    except ImportError:
        return []
    return [Middleware(CallersTrace)]


async def _answer_refusal(request: Request, error: Exception) -> JSONResponse:
    """What has no route, or not with this method."""
    assert isinstance(error, HTTPException)
    kind = "not_found" if error.status_code == 404 else "invalid_request"
    message = f"{request.method} {request.url.path}: {error.detail.lower()}"
    return await answer_error(request, ApiError(message, error.status_code, kind=kind, code=None))

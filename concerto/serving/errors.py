"""Errors that a client is told, in the one form that all fronts have: never a traceback, never a secret."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from concerto.effects.error_kinds import AgentKind
from concerto.json_data import Json

if TYPE_CHECKING:
    from starlette.requests import Request


class ApiError(Exception):
    """What is wrong with a request: `param` is the part of it, `code` tells machines which of many."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        kind: str = "invalid_request",
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error: dict[str, Json] = {"message": message, "type": kind, "param": param, "code": code}


def not_found(message: str, code: str | None = None, param: str | None = None) -> ApiError:
    return ApiError(message, 404, kind="not_found", code=code, param=param)


async def answer_error(request: Request, error: Exception) -> JSONResponse:
    """The response to a request that failed so."""
    assert isinstance(error, ApiError)
    return JSONResponse({"error": error.error}, error.status)


async def answer_fault(request: Request, error: Exception) -> JSONResponse:
    """The response where the mistake is ours."""
    return JSONResponse({"error": server_fault()}, 500)


async def answer_without_store(request: Request, error: Exception) -> JSONResponse:
    """The response where the store cannot be used."""
    return JSONResponse({"error": store_fault(error)}, 503)


def store_fault(error: Exception) -> dict[str, Json]:
    """What a client is told where the store cannot be used: its disk is full, or its server is gone."""
    logging.getLogger("uvicorn.error").error(str(error))
    message = "the store cannot be used now; the log of the server says why"
    return {"message": message, "type": "server_error", "param": None, "code": "store_unavailable"}


def server_fault() -> dict[str, Json]:
    message = "the server made a mistake; its log says which"
    return {"message": message, "type": "server_error", "param": None, "code": "server_error"}


def failure(kind: str, message: str) -> dict[str, Json]:
    """The error in a response that failed. Clients know few codes, so its kind is in the text."""
    limited = kind == AgentKind.RATE_LIMITED.value
    return {"code": "rate_limit_exceeded" if limited else "server_error", "message": f"{kind}: {message}"}

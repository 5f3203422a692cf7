"""Who calls: each token is a caller, and sees what is its own."""

from __future__ import annotations

from starlette.requests import HTTPConnection

CALLER = "concerto.caller"
"""Where a request's scope has the name of its caller; without tokens all are one."""


def caller_of(request: HTTPConnection) -> str:
    return str(request.scope.get(CALLER, ""))

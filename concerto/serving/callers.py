"""Who calls: each token is a caller, and sees what is its own. Without tokens only this machine is served,
and no page of another site."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from concerto.serving.errors import ApiError

CALLER = "concerto.caller"
"""Where a request's scope has the name of its caller."""
OPEN = frozenset({"/healthz"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


def caller_of(request: HTTPConnection) -> str:
    """The name of a caller; without tokens all are one."""
    return str(request.scope.get(CALLER, ""))


class Admission:
    """Lets in requests of callers that are known, or of this machine where there are no tokens."""

    def __init__(self, app: ASGIApp, tokens: Sequence[str]) -> None:
        self._app = app
        self._tokens = [(token.encode(), sha256(token.encode()).hexdigest()[:16]) for token in tokens]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"] not in OPEN:
            try:
                scope[CALLER] = self._admitted(HTTPConnection(scope))
            except ApiError as refusal:
                headers = {"www-authenticate": "Bearer"} if refusal.status == 401 else {}
                answer = JSONResponse({"error": refusal.error}, refusal.status, headers)
                if scope["type"] == "websocket":
                    await WebSocket(scope, receive, send).send_denial_response(answer)
                else:
                    await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admitted(self, request: HTTPConnection) -> str:
        if not self._tokens:
            _require_local(request)
            return ""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        found = ""
        for token, name in self._tokens:
            # All are compared, and each in the same time.
            if hmac.compare_digest(given.strip().encode(), token):
                found = name
        if scheme.lower() != "bearer" or not found:
            raise ApiError("a token is needed: `Authorization: Bearer …`", 401, code="invalid_token")
        return found


def _require_local(request: HTTPConnection) -> None:
    """A page of another site may let a browser send requests here, under that site's name."""
    host = request.headers.get("host", "")
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    if name.lower() not in _LOOPBACK:
        raise ApiError(f"the host `{host}` is not served", 403, code="foreign_host")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        raise ApiError(f"pages of `{origin}` are not served", 403, code="foreign_origin")


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")

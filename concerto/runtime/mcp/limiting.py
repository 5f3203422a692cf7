"""HTTP of the client of MCP, held within limits: no answer is longer than a message may be, since it is read
whole, and a connection that is lost ends the request on it, not the session with all the others."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
from mcp.types import CONNECTION_CLOSED

from concerto.runtime.io.bodies import TooLarge, limited
from concerto.runtime.llm.http11 import unpacked
from concerto.runtime.llm.sockets import HttpFailure
from concerto.runtime.mcp.process import MOST_BYTES, TOO_LONG

LOST = "the connection was lost: "
"""How the error begins of a request whose answer did not come."""
UNREACHED = "cannot be reached: "
"""How the error begins of a request that was not sent."""
_NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
_UNPACKED = ("content-encoding", "content-length", "transfer-encoding")


class LimitedClient(httpx2.AsyncClient):
    """A client whose answers fail once they are too long, unpacked. Of streams of events the protocol's own
    limit bounds each event. Where the session `outlasts` that a request's connection is lost, the request is
    answered by an error of the protocol."""

    def __init__(self, outlasts: Callable[[Exception], bool], **more: Any) -> None:
        super().__init__(**more)
        self._outlasts = outlasts

    async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        try:
            response = await super().send(request, stream=True, **more)
        except httpx2.TransportError as lost:
            if request.method != "POST" or not self._outlasts(lost):
                raise
            how = UNREACHED if isinstance(lost, _NOT_SENT) else LOST
            error = {"code": CONNECTION_CLOSED, "message": f"{how}{lost or type(lost).__name__}"}
            return httpx2.Response(502, json={"jsonrpc": "2.0", "id": None, "error": error}, request=request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            headers = [pair for pair in response.headers.multi_items() if pair[0] not in _UNPACKED]
            whole = httpx2.Response(
                response.status_code,
                headers=headers,
                stream=_Body(response),
                request=request,
                extensions=response.extensions,
            )
            whole.next_request = response.next_request
            response = whole
        if not stream:
            try:
                await response.aread()
            finally:
                await response.aclose()
        return response


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            packed = self._response.headers.get("content-encoding", "")
            async for piece in limited(unpacked(self._response.aiter_raw(), packed), MOST_BYTES):
                yield piece
        except TooLarge:
            raise httpx2.StreamError(TOO_LONG) from None
        except HttpFailure as error:
            raise httpx2.DecodingError(str(error)) from None
        except httpx2.TransportError as lost:
            raise httpx2.StreamError(f"{LOST}{lost}") from None

    async def aclose(self) -> None:
        await self._response.aclose()

"""Size limit on HTTP of the client of MCP, which reads whole answers: none that is longer than a message may
be."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2

from concerto.runtime.io.bodies import TooLarge, limited
from concerto.runtime.llm.http11 import unpacked
from concerto.runtime.llm.sockets import HttpFailure
from concerto.runtime.mcp.process import MOST_BYTES, TOO_LONG

_UNPACKED = ("content-encoding", "content-length", "transfer-encoding")


class LimitedClient(httpx2.AsyncClient):
    """A client whose answers fail once they are too long, unpacked. Of streams of events the protocol's own
    limit bounds each event."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        response = await super().send(request, stream=True, **more)
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

    async def aclose(self) -> None:
        await self._response.aclose()

"""The WebSocket mode of the Responses API: one response after another over one connection, which knows those
that are not stored."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import TYPE_CHECKING

from starlette.websockets import WebSocket, WebSocketDisconnect

from concerto.journal.databases import StoreError
from concerto.json_data import Json
from concerto.runtime.concurrency.fibers import cancel
from concerto.serving.answers import AgentAnswer
from concerto.serving.bodies import checked, parsed_json
from concerto.serving.callers import caller_of
from concerto.serving.errors import ApiError, server_fault, store_fault
from concerto.serving.response_events import ResponseBuilder
from concerto.serving.response_requests import ResponseRequest

if TYPE_CHECKING:
    from concerto.serving.response_store import StoredResponse
    from concerto.serving.responses import Responses

_MOST_KNOWN = 100
_OF_HTTP = ("stream", "stream_options", "background")


class ResponseSocket:
    """One connection of a client."""

    def __init__(self, responses: Responses, socket: WebSocket) -> None:
        self._responses = responses
        self._socket = socket
        self._known: dict[str, StoredResponse] = {}

    async def serve(self) -> None:
        """Answer until the client leaves, which ends what is under way."""
        await self._socket.accept()
        asked: asyncio.Queue[str | bytes] = asyncio.Queue(16)

        async def read() -> None:
            try:
                while (message := await self._socket.receive())["type"] == "websocket.receive":
                    await asked.put(message.get("text") or message.get("bytes") or "")
            except WebSocketDisconnect:
                pass

        async def answer() -> None:
            while True:
                await self._answer(await asked.get())

        reading, answering = asyncio.create_task(read()), asyncio.create_task(answer())
        try:
            await asyncio.wait([reading, answering], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel([reading, answering])

    async def _answer(self, text: str | bytes) -> None:
        previous = ""
        try:
            body = parsed_json(text)
            if not isinstance(body, dict) or body.pop("type", None) != "response.create":
                raise ApiError("a message has the type `response.create`", code="invalid_type", param="type")
            for name in _OF_HTTP:
                if name in body:
                    raise ApiError(f"`{name}` is for HTTP", code="unknown_parameter", param=name)
            wanted = checked(body, ResponseRequest)
            previous = wanted.previous_response_id or ""
            await self._respond(wanted)
        except ApiError as error:
            self._known.pop(previous, None)
            told = {**error.error, "code": error.error["code"] or error.error["type"]}
            await self._send({"type": "error", "status": error.status, "error": told})
        except WebSocketDisconnect:
            raise
        except StoreError as error:
            self._known.pop(previous, None)
            await self._send({"type": "error", "status": 503, "error": store_fault(error)})
        except Exception:
            self._known.pop(previous, None)
            await self._send({"type": "error", "status": 500, "error": server_fault()})
            raise

    async def _respond(self, wanted: ResponseRequest) -> None:
        begun = self._responses.begin(wanted, caller_of(self._socket), self._known)
        if wanted.generate is False:
            builder = ResponseBuilder(begun.stored.response)
            for event in [*builder.begin(), *builder.end(AgentAnswer())]:
                await self._send(event)
            self._responses.ended(begun, AgentAnswer())
        else:
            async with aclosing(self._responses.stream(begun)) as events:
                async for event in events:
                    await self._send(event)
        if begun.stored.status == "failed":
            self._known.pop(begun.stored.previous, None)
        elif not begun.stored.response["store"]:
            while len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[begun.stored.id] = begun.stored

    async def _send(self, event: Json) -> None:
        await self._socket.send_text(json.dumps(event))

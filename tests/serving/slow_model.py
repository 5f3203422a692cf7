"""A model server that says words one after the other, for measures of servers under load."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from concerto.json_data import Json

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@asynccontextmanager
async def slow_model(pause: float) -> AsyncIterator[str]:
    """The URL of a server that answers `say WORDS` with the words, `pause` seconds before each."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            body = json.loads(await reader.readexactly(length))
            prompt = next(each["content"] for each in reversed(body["messages"]) if each["role"] == "user")
            words = prompt.split()[1:]
            if body.get("stream"):
                writer.write(_HEAD)
                for word in words:
                    await asyncio.sleep(pause)
                    writer.write(_chunk({"delta": {"content": f"{word} "}}))
                    await writer.drain()
                writer.write(_chunk({"delta": {}, "finish_reason": "stop"}) + b"data: [DONE]\n\n")
            else:
                await asyncio.sleep(pause * len(words))
                writer.write(_whole(" ".join(words)))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=2_000)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


def _chunk(choice: Json) -> bytes:
    return f"data: {json.dumps({'model': 'm', 'choices': [{'index': 0, **choice}]})}\n\n".encode()


def _whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = json.dumps({"model": "m", "choices": choices, "usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + body

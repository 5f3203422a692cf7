"""What is written by hand with one httpx2 client, to be measured beside agents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    import httpx2


class Add(BaseModel):
    a: int
    b: int


class Ticket(BaseModel):
    title: str
    priority: int
    open: bool
    hours: float
    tags: list[str]
    assignee: str | None


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "Calculator__add",
            "description": "Add two numbers together",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        },
    }
]


TICKET = Ticket.model_json_schema()


async def by_hand(client: httpx2.AsyncClient, url: str, prompt: str = "What is 2 + 2 + 3?") -> None:
    """What somebody would write who needs nothing else."""
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while True:
        response = await client.post(url, json={"model": "gpt-4o", "messages": messages, "tools": TOOLS})
        message = response.json()["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return
        for call in message["tool_calls"]:
            arguments = Add.model_validate_json(call["function"]["arguments"])
            content = json.dumps(arguments.a + arguments.b)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


async def streamed_by_hand(client: httpx2.AsyncClient, url: str, prompt: str = "Tell me a story") -> None:
    messages = [{"role": "user", "content": prompt}]
    asked = {"model": "gpt-4o", "messages": messages, "tools": TOOLS, "stream": True}
    text = ""
    async with client.stream("POST", url, json=asked) as response:
        async for line in response.aiter_lines():
            if line.startswith("data:") and line != "data: [DONE]":
                text += json.loads(line[5:])["choices"][0]["delta"].get("content") or ""


async def read_by_hand(client: httpx2.AsyncClient, url: str) -> None:
    schema = {"name": "Ticket", "schema": TICKET}
    asked = {
        "model": "gpt-4o",
        "messages": [{"role": "user", "content": "Of the printer"}],
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
    response = await client.post(url, json=asked)
    Ticket.model_validate_json(response.json()["choices"][0]["message"]["content"])

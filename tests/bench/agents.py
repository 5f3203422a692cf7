"""CPU time and memory of the tool loop, beside a hand-written one: `python -m tests.bench.agents [--memory]`.

The work: prompt, tool call, result, second tool call, result, answer; three requests to a stub that answers
at once.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
from pydantic import BaseModel

from concerto.compiler import compile_source
from concerto.manifest.models import Manifest
from concerto.program import Runtime

PROGRAM = """
tool Calculator {
    description: "Do arithmetic",
    @describe("Add two numbers together")
    @param("a", "The first number")
    @param("b", "The second number")
    pub fn add(self, a: Int, b: Int) -> Result<Int, ToolError> { Ok(a + b) }
}
agent Assistant { provider: openai, model: "gpt-4o", tools: [Calculator] }
fn main() {
    let response = Assistant.execute("What is 2 + 2 + 3?").unwrap();
    assert_eq(response.iterations, 3);
}
"""

STUB = r"""
import asyncio, json

def reply(message):
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    data = {"id": "x", "object": "chat.completion", "model": "gpt-4o", "choices": [choice], "usage": usage}
    body = json.dumps(data).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body

def call(number):
    function = {"name": "Calculator__add", "arguments": '{"a": 2, "b": 2}'}
    asked = {"id": f"call_{number}", "type": "function", "function": function}
    return reply({"role": "assistant", "content": None, "tool_calls": [asked]})

ANSWERS = [call(0), call(1), reply({"role": "assistant", "content": "7"})]

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            results = body.count(b'"role":"tool"') + body.count(b'"role": "tool"')
            writer.write(ANSWERS[min(results, 2)])
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""
"""A model server that answers at once, for a process of its own."""


class Add(BaseModel):
    a: int
    b: int


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


async def by_hand(url: str) -> None:
    """What somebody would write who needs nothing else."""
    async with httpx2.AsyncClient(headers={"authorization": "Bearer x"}, verify=False) as client:
        messages: list[Any] = [{"role": "user", "content": "What is 2 + 2 + 3?"}]
        while True:
            response = await client.post(
                f"{url}/chat/completions", json={"model": "gpt-4o", "messages": messages, "tools": TOOLS}
            )
            message = response.json()["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return
            for call in message["tool_calls"]:
                arguments = Add.model_validate_json(call["function"]["arguments"])
                content = json.dumps(arguments.a + arguments.b)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def main() -> None:
    stub = subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    url = f"http://127.0.0.1:{stub.stdout.readline().strip()}"
    program = compile_source(PROGRAM)
    manifest = Manifest.model_validate({"connections": {"openai": {"provider": "openai", "base_url": url}}})

    async def ours(_: str) -> None:
        assert await Runtime(program, manifest=manifest, quiet=True).run_async() == 0

    try:
        for at_once, times in ((1, 200), (100, 4)):
            hand = asyncio.run(measure(by_hand, url, at_once, times))
            mine = asyncio.run(measure(ours, url, at_once, times))
            figures = f"by hand {hand:.2f} ms, ours {mine:.2f} ms CPU a run"
            print(f"{at_once:4} at once: {figures}, ratio {mine / hand:.2f}")
        if "--memory" in sys.argv:
            asyncio.run(measure(ours, url, 1000, 1))
            print(
                f"peak with 1,000 at once: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
            )
    finally:
        stub.terminate()


async def measure(work: Callable[[str], Awaitable[None]], url: str, at_once: int, times: int) -> float:
    """Milliseconds of CPU for one run."""
    await work(url)
    begun = time.process_time()
    for _ in range(times):
        await asyncio.gather(*[work(url) for _ in range(at_once)])
    return (time.process_time() - begun) * 1000 / (at_once * times)


if __name__ == "__main__":
    main()

"""CPU time and memory of the loop as it is embedded: `python -m tests.bench.agents [--memory] [TITLE …]`.

A program that was compiled once, a `Runtime` for each run and a Python tool, beside what is written by hand
with one httpx2 client. The work: prompt, tool call, result, second tool call, result, answer; three requests
to a stub that answers at once. Beside it an answer of 200 pieces, streamed all at once and as models do, one
after the other, one of six fields, and eight calls in one turn. Before that, `--memory` tells the peak of
1,000 runs at once, and what 10,000 runs one after the other leave, in a process that has loaded neither
httpx2 nor pydantic.
"""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from concerto import tool
from concerto.compiler import compile_source
from concerto.program import Runtime

if TYPE_CHECKING:
    import httpx2

_PAIRS = 7

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
DECLARATIONS = """
schema Ticket {
    title: String, priority: Int, open: Bool, hours: Float, tags: Array<String>, assignee: Option<String>,
}
agent Assistant { provider: openai, model: "gpt-4o", tools: [Calculator__add] }
agent Reader { provider: openai, model: "gpt-4o" }
"""
IN_TURN = DECLARATIONS + "fn main" + PROGRAM.partition("fn main")[2]
STREAMING = (
    DECLARATIONS
    + """
fn main() {
    let mut pieces = 0;
    for chunk in Assistant.stream("Tell me a story").unwrap() { pieces += 1; }
    assert_eq(pieces, 201);
}
"""
)
SLOWLY = STREAMING.replace("Tell me", "Slowly tell me")
PARALLEL = (
    DECLARATIONS
    + """
fn main() {
    let response = Assistant.execute("Eight sums").unwrap();
    assert_eq(response.tool_calls.len(), 8);
}
"""
)

TYPED = (
    DECLARATIONS
    + """
fn main() {
    let ticket = Reader.execute_with_schema<Ticket>("Of the printer").unwrap();
    assert_eq(ticket.tags.len(), 2);
}
"""
)

STUB = r"""
import asyncio, json

def reply(message):
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    data = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o"}
    data |= {"choices": [choice], "usage": usage}
    body = json.dumps(data).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body

def calls(*numbers):
    function = {"name": "Calculator__add", "arguments": '{"a": 2, "b": 2}'}
    asked = [{"id": f"call_{number}", "type": "function", "function": function} for number in numbers]
    return reply({"role": "assistant", "content": None, "tool_calls": asked})

def stream(count):
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    choices = [{"index": 0, "delta": {"content": f"word{n} "}, "finish_reason": None} for n in range(count)]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    parts = [json.dumps({**head, "choices": [choice]}) for choice in choices]
    body = "".join([f"data: {part}\n\n" for part in parts]) + "data: [DONE]\n\n"
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    return f"{head}{body}".encode()

async def stream_slowly(writer):
    head, _, body = STREAM.partition(b"\r\n\r\n")
    fields = head.partition(b"content-length")[0] + b"transfer-encoding: chunked\r\n\r\n"
    writer.write(fields)
    for piece in body.split(b"\n\n")[:-1]:
        writer.write(b"%x\r\n%s\n\n\r\n" % (len(piece) + 2, piece))
        await asyncio.sleep(0.0005)
    writer.write(b"0\r\n\r\n")

LAST = reply({"role": "assistant", "content": "7"})
TICKET = {
    "title": "Printer on fire", "priority": 1, "open": True, "hours": 2.5, "tags": ["a", "b"],
    "assignee": "Ada",
}
TICKET = reply({"role": "assistant", "content": json.dumps(TICKET)})
ANSWERS = [calls(0), calls(1), LAST]
EIGHT = calls(*range(8))
STREAM = stream(200)

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            results = body.count(b'"role":"tool"') + body.count(b'"role": "tool"')
            if b"Slowly" in body:
                await stream_slowly(writer)
            elif b'"stream":true' in body or b'"stream": true' in body:
                writer.write(STREAM)
            elif b'"response_format"' in body:
                writer.write(TICKET)
            elif b'"tools"' not in body:
                writer.write(LAST)
            elif b"Eight sums" in body:
                writer.write(LAST if results else EIGHT)
            else:
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


@tool
def add(a: int, b: int) -> int:
    """Add two numbers together"""
    return a + b


def main() -> None:
    stub = subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    url = f"http://127.0.0.1:{stub.stdout.readline().strip()}"
    ours = runner(IN_TURN, url)
    wanted = [each for each in sys.argv[1:] if not each.startswith("-")]
    try:
        if "--memory" in sys.argv:
            asyncio.run(measure(ours, 1000, 1))
            print(f"peak with 1,000 at once: {peak():.0f} MB")
            asyncio.run(measure(ours, 1, 1000))
            before = resident()
            asyncio.run(measure(ours, 1, 10_000))
            print(f"10,000 runs more after 1,000: {before:.1f} MB, then {resident():.1f} MB")
        from tests.bench.by_hand import by_hand, read_by_hand, streamed_by_hand

        eight = partial(by_hand, prompt="Eight sums")
        slowly = partial(streamed_by_hand, prompt="Slowly tell me a story")
        for title, hand, mine, at_once, times in (
            ("two calls in turn", by_hand, ours, 1, 50),
            ("two calls in turn, 100 at once", by_hand, ours, 100, 1),
            ("200 pieces streamed", streamed_by_hand, runner(STREAMING, url), 1, 20),
            ("200 pieces, one after the other", slowly, runner(SLOWLY, url), 1, 2),
            ("200 pieces, one after the other, 20 at once", slowly, runner(SLOWLY, url), 20, 1),
            ("an answer of six fields", read_by_hand, runner(TYPED, url), 1, 100),
            ("eight calls in one turn", eight, runner(PARALLEL, url), 1, 50),
        ):
            if not wanted or title in wanted:
                compare(title, partial(hand, url=f"{url}/chat/completions"), mine, at_once, times)
    finally:
        stub.terminate()


Work: TypeAlias = Callable[[], Awaitable[None]]


def runner(source: str, url: str) -> Work:
    """What runs a program once."""
    program = compile_source(source, tools={"Calculator__add": add})
    environment = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "x"}

    async def run() -> None:
        assert await Runtime(program, environment=environment, quiet=True).run_async()

    return run


def compare(
    title: str, hand: Callable[[httpx2.AsyncClient], Awaitable[None]], mine: Work, at_once: int, times: int
) -> None:
    """Medians of alternating measurements: others use the machine too."""
    from statistics import median

    import httpx2

    async def with_a_client() -> float:
        async with httpx2.AsyncClient(headers={"authorization": "Bearer x"}, verify=False) as client:
            return await measure(partial(hand, client), at_once, times)

    pairs = [
        (asyncio.run(with_a_client()), asyncio.run(measure(mine, at_once, times))) for _ in range(_PAIRS)
    ]
    theirs, ours = (median(column) for column in zip(*pairs, strict=True))
    ratio = median([mine / hand for hand, mine in pairs])
    print(f"{title}: by hand {theirs:.2f} ms, ours {ours:.2f} ms CPU a run, ratio {ratio:.2f}", flush=True)


async def measure(work: Work, at_once: int, times: int) -> float:
    """Milliseconds of CPU for one run."""
    await work()
    begun = time.process_time()
    for _ in range(times):
        await asyncio.gather(*[work() for _ in range(at_once)])
    return (time.process_time() - begun) * 1000 / (at_once * times)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


if __name__ == "__main__":
    main()

"""CPU time of the loop beside agent frameworks: `python -m tests.bench.peers`, with what
`pip install -r tests/bench/peers.txt` installs. The work and the stub are those of `tests.bench.agents`;
each row is the CPU time of a run divided by that of the loop written by hand with one httpx2 client."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any, TypeAlias

from tests.bench.agents import IN_TURN, PARALLEL, STREAMING, STUB, TYPED, measure, runner
from tests.bench.by_hand import Ticket, by_hand, read_by_hand, streamed_by_hand

_PAIRS = 5
_PROMPT, _STORY, _EIGHT, _PRINTER = "What is 2 + 2 + 3?", "Tell me a story", "Eight sums", "Of the printer"

Work: TypeAlias = Callable[[], Awaitable[None]]


def add(a: int, b: int) -> int:
    """Add two numbers together"""
    return a + b


def pydantic_ai(url: str) -> dict[str, Work]:
    from pydantic_ai import Agent, NativeOutput, Tool
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="x"))
    agent = Agent(model, tools=[Tool(add, name="Calculator__add")])
    reader = Agent(model, output_type=NativeOutput(Ticket))

    async def ask(prompt: str) -> None:
        await agent.run(prompt)

    async def stream() -> None:
        async with agent.run_stream(_STORY) as response:
            async for _ in response.stream_text(delta=True, debounce_by=None):
                pass

    async def read() -> None:
        assert (await reader.run(_PRINTER)).output.open

    return _works(ask, stream, read)


def openai_agents(url: str) -> dict[str, Work]:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("gpt-4o", AsyncOpenAI(base_url=url, api_key="x"))
    agent: Any = Agent("Assistant", model=model, tools=[function_tool(add, name_override="Calculator__add")])
    reader: Any = Agent("Reader", model=model, output_type=Ticket)

    async def ask(prompt: str) -> None:
        await Runner.run(agent, prompt)

    async def stream() -> None:
        async for _ in Runner.run_streamed(agent, _STORY).stream_events():
            pass

    async def read() -> None:
        assert (await Runner.run(reader, _PRINTER)).final_output.open

    return _works(ask, stream, read)


def langgraph(url: str) -> dict[str, Work]:
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    model = ChatOpenAI(model="gpt-4o", base_url=url, api_key="x")
    graph = create_react_agent(model, [tool("Calculator__add")(add)])
    reader = model.with_structured_output(Ticket, method="json_schema")

    async def ask(prompt: str) -> None:
        await graph.ainvoke({"messages": [("user", prompt)]})

    async def stream() -> None:
        async for _ in graph.astream({"messages": [("user", _STORY)]}, stream_mode="messages"):
            pass

    async def read() -> None:
        answer = await reader.ainvoke(_PRINTER)
        assert isinstance(answer, Ticket) and answer.open

    return _works(ask, stream, read)


PEERS = {"pydantic-ai-slim": pydantic_ai, "openai-agents": openai_agents, "langgraph": langgraph}

ROWS: dict[str, tuple[Callable[..., Awaitable[None]], str, int, int]] = {
    "two calls in turn": (by_hand, IN_TURN, 1, 10),
    "two calls in turn, 100 at once": (by_hand, IN_TURN, 100, 1),
    "200 pieces streamed": (streamed_by_hand, STREAMING, 1, 10),
    "an answer of six fields": (read_by_hand, TYPED, 1, 20),
    "eight calls in one turn": (partial(by_hand, prompt=_EIGHT), PARALLEL, 1, 10),
}


_WIDTH = max(map(len, ROWS))


def _works(ask: Callable[[str], Awaitable[None]], stream: Work, read: Work) -> dict[str, Work]:
    in_turn = partial(ask, _PROMPT)
    works: list[Work] = [in_turn, in_turn, stream, read, partial(ask, _EIGHT)]
    return dict(zip(ROWS, works, strict=True))


def main() -> None:
    warnings.simplefilter("ignore")
    stub = subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True)
    assert stub.stdout is not None
    try:
        asyncio.run(_compare(f"http://127.0.0.1:{stub.stdout.readline().strip()}"))
    finally:
        stub.terminate()


async def _compare(url: str) -> None:
    """All in one event loop: some peers share their connections among all clients."""
    import httpx2

    peers, shown = [], ["Concerto"]
    for name, make in PEERS.items():
        try:
            shown.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            print(f"{name} is not installed: pip install -r tests/bench/peers.txt")
            continue
        peers.append(make(url))
    print(" " * _WIDTH, "  ".join(shown))
    async with httpx2.AsyncClient(headers={"authorization": "Bearer x"}, verify=False) as client:
        for title, (hand, source, at_once, times) in ROWS.items():
            by_us = partial(hand, client, f"{url}/chat/completions")
            works = [runner(source, url), *[peer[title] for peer in peers]]
            rounds = []
            for _ in range(_PAIRS):
                base = await measure(by_us, at_once, times)
                rounds.append([await measure(work, at_once, times) / base for work in works])
            ratios = [median(column) for column in zip(*rounds, strict=True)]
            columns = [f"{ratio:.2f}".rjust(len(name)) for ratio, name in zip(ratios, shown, strict=True)]
            print(title.ljust(_WIDTH), "  ".join(columns), flush=True)


if __name__ == "__main__":
    main()

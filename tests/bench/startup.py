"""What a start costs: whole processes that run cached programs, against bare ones of Python.

`python -m tests.bench.startup [ROUNDS]` prints ratios of CPU time: a program that prints a line beside
`python -c pass`, and one whose agent calls a tool twice beside a script with httpx2 that does the same by
hand, both with a model server that answers at once. Processes are measured in turns and the least of each
counts, so that a busy machine changes little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.agents import PROGRAM, STUB

HELLO = 'fn main() { println("hello"); }\n'

START = "import sys; from concerto.cli.entry import concerto; concerto()"

MANIFEST = """\
[project]
name = "bench"

[connections.openai]
provider = "openai"
base_url = "http://127.0.0.1:{port}"
"""

BY_HAND = """\
import asyncio, json, sys
import httpx2

TOOLS = [{"type": "function", "function": {
    "name": "Calculator__add", "description": "Add two numbers together",
    "parameters": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                   "required": ["a", "b"]}}}]

async def main():
    async with httpx2.AsyncClient(headers={"authorization": "Bearer x"}) as client:
        messages = [{"role": "user", "content": "What is 2 + 2 + 3?"}]
        while True:
            request = {"model": "gpt-4o", "messages": messages, "tools": TOOLS}
            response = await client.post(f"http://127.0.0.1:{sys.argv[1]}/chat/completions", json=request)
            message = response.json()["choices"][0]["message"]
            messages.append(message)
            if not message.get("tool_calls"):
                return
            for call in message["tool_calls"]:
                given = json.loads(call["function"]["arguments"])
                content = json.dumps(given["a"] + given["b"])
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})

asyncio.run(main())
"""


def main(rounds: int) -> None:
    # Modules are loaded from their own caches, as they are wherever a program is installed.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["OPENAI_API_KEY"] = "none"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["CONCERTO_CACHE"] = name
        (folder / "hello.conc").write_text(HELLO)
        bare, hello = least(rounds, [sys.executable, "-c", "pass"], run(folder / "hello.conc"))
        print(
            f"python -c pass {bare * 1000:.1f} ms, a cached hello {hello * 1000:.1f} ms: {hello / bare:.2f}"
        )
        with subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True) as stub:
            assert stub.stdout is not None
            port = stub.stdout.readline().strip()
            (folder / "agent.conc").write_text(PROGRAM)
            (folder / "Concerto.toml").write_text(MANIFEST.format(port=port))
            by_hand, agent = least(rounds, [sys.executable, "-c", BY_HAND, port], run(folder / "agent.conc"))
            stub.terminate()
        print(
            f"two tool calls by hand {by_hand * 1000:.1f} ms, by a cached agent {agent * 1000:.1f} ms: "
            f"{agent / by_hand:.2f}"
        )


def run(program: Path) -> list[str]:
    return [sys.executable, "-c", START, "run", str(program)]


def least(rounds: int, *commands: list[str]) -> list[float]:
    """The least CPU seconds of each command, after one run that fills the caches."""
    best = [float("inf")] * len(commands)
    for turn in range(rounds + 1):
        for index, command in enumerate(commands):
            seconds = cpu_seconds(command)
            if turn:
                best[index] = min(best[index], seconds)
    return best


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)

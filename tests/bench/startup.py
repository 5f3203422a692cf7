"""What a start costs: whole processes that run cached programs, against bare ones of Python.

`python -m tests.bench.startup [ROUNDS]` prints ratios of CPU time: a program that prints a line beside
`python -c pass`, one that prints 300,000 of them beside `print`, and one whose agent calls a tool twice
beside a script with httpx2 that does the same by hand, both with a model server that answers at once.
Processes are measured in turns and the ratio is the median of those of all turns, so that a machine whose
speed changes alters little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.bench.agents import PROGRAM, STUB

HELLO = 'fn main() { println("hello"); }\n'

LINES = "fn main() { for line in 0..300000 { println(line); } }\n"

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
        bare, hello, ratio = compared(rounds, [sys.executable, "-c", "pass"], run(folder / "hello.conc"))
        print(f"python -c pass {bare:.1f} ms, a cached hello {hello:.1f} ms: {ratio:.2f}")
        (folder / "lines.conc").write_text(LINES)
        script = [sys.executable, "-c", "for line in range(300000): print(line)"]
        by_hand, printed, ratio = compared(max(rounds // 4, 3), script, run(folder / "lines.conc"))
        print(f"300,000 lines by print {by_hand:.0f} ms, by println {printed:.0f} ms: {ratio:.2f}")
        with subprocess.Popen([sys.executable, "-c", STUB], stdout=subprocess.PIPE, text=True) as stub:
            assert stub.stdout is not None
            port = stub.stdout.readline().strip()
            (folder / "agent.conc").write_text(PROGRAM)
            (folder / "Concerto.toml").write_text(MANIFEST.format(port=port))
            script = [sys.executable, "-c", BY_HAND, port]
            by_hand, agent, ratio = compared(rounds, script, run(folder / "agent.conc"))
            stub.terminate()
        print(f"two tool calls by hand {by_hand:.1f} ms, by a cached agent {agent:.1f} ms: {ratio:.2f}")


def run(program: Path) -> list[str]:
    return [sys.executable, "-c", START, "run", str(program)]


def compared(rounds: int, one: list[str], other: list[str]) -> tuple[float, float, float]:
    """Medians of the CPU milliseconds of two commands and of their ratio, after runs that fill the caches."""
    cpu_seconds(one)
    cpu_seconds(other)
    turns = [(cpu_seconds(one), cpu_seconds(other)) for _ in range(rounds)]
    ones, others = zip(*turns, strict=True)
    ratio = median([second / first for first, second in turns])
    return median(ones) * 1000, median(others) * 1000, ratio


def cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20)

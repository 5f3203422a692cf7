"""Every wire against a second model server that nobody here wrote: aimock, of npm. Ollama's is among them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.mcp.peers import node_program
from tests.runtime.running import AGENTS, Outcome
from tests.runtime.servers import free_port, wait_until

Json = Any
Run = Callable[..., Outcome]

WIRES = {
    "openai": "/v1",
    "openai-responses": "/v1",
    "anthropic": "",
    "google": "",
    "ollama": "",
}

FIXTURES = [
    {
        "match": {"userMessage": "two sums", "hasToolResult": False},
        "response": {
            "toolCalls": [
                {"name": "Calculator__add", "arguments": {"a": 1, "b": 2}},
                {"name": "Calculator__add", "arguments": {"a": 3, "b": 4}},
            ]
        },
    },
    {"match": {"userMessage": "two sums", "hasToolResult": True}, "response": {"content": "3 and 7"}},
    {"match": {"userMessage": "greet"}, "response": {"content": "Hello, how do you do? " * 5}},
    {"match": {"userMessage": "who"}, "response": {"content": '{"name": "Ann", "age": 42}'}},
    {
        "match": {"userMessage": "forbidden"},
        "response": {"error": {"message": "go away", "type": "authentication_error"}, "status": 401},
    },
]


class Server:
    """An aimock server and where its wires are."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def connections(self, provider: str) -> dict[str, Json]:
        return {"openai": {"provider": provider, "base_url": self.url + WIRES[provider]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    command = node_program("aimock")
    folder: Path = tmp_path_factory.mktemp("aimock")
    (folder / "fixtures.json").write_text(json.dumps({"fixtures": FIXTURES}))
    (folder / "aimock.json").write_text(json.dumps({"llm": {"fixtures": str(folder / "fixtures.json")}}))
    port = free_port()
    process = subprocess.Popen(
        [command, "--config", str(folder / "aimock.json"), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    made = Server(port)
    try:
        wait_until(lambda: urlopen(f"{made.url}/health", timeout=60).close(), process)
        yield made
    finally:
        process.kill()
        process.wait(240)


on_every_wire = pytest.mark.parametrize("provider", WIRES)


@on_every_wire
def test_two_calls_in_one_turn(server: Server, run: Run, provider: str) -> None:
    source = """
    fn main() {
        let response = Assistant.execute("two sums").unwrap();
        let results = response.tool_calls.map(|call| call.result);
        println("${response.text} ${results} ${response.iterations} ${response.stop_reason}");
    }
    """
    outcome = run(AGENTS + source, connections=server.connections(provider))
    assert outcome.out == "3 and 7 [3, 7] 2 stop\n", outcome.err


@on_every_wire
def test_two_calls_in_one_streamed_turn(server: Server, run: Run, provider: str) -> None:
    source = """
    fn main() {
        let mut calls = 0;
        for chunk in Assistant.stream("two sums").unwrap() {
            calls += chunk.tool_calls.len();
            if chunk.done { println("${calls} ${chunk.accumulated} ${chunk.response.unwrap().iterations}"); }
        }
    }
    """
    outcome = run(AGENTS + source, connections=server.connections(provider))
    assert outcome.out == "2 3 and 7 2\n", outcome.err


@on_every_wire
def test_a_stream_of_text(server: Server, run: Run, provider: str) -> None:
    source = """
    fn main() {
        let mut pieces = 0;
        let mut text = "";
        for chunk in Reader.stream("greet").unwrap() {
            if !chunk.done { pieces += 1; }
            text = text + chunk.text;
            if chunk.done { println("${pieces > 1} ${text == chunk.accumulated} ${text.len()}"); }
        }
    }
    """
    assert run(AGENTS + source, connections=server.connections(provider)).out == "true true 110\n"


@pytest.mark.parametrize("provider", [wire for wire in WIRES if wire != "anthropic"])
def test_structured_output(server: Server, run: Run, provider: str) -> None:
    """On all but Anthropic's, where the answer is a call that the server would have to know of."""
    source = """
    fn main() {
        let person = Reader.execute_with_schema<Person>("who").unwrap();
        println("${person.name} ${person.age}");
    }
    """
    assert run(AGENTS + source, connections=server.connections(provider)).out == "Ann 42\n"


@on_every_wire
def test_refusals(server: Server, run: Run, provider: str) -> None:
    source = """
    fn main() {
        let error = Reader.execute("forbidden").err().unwrap();
        println("${error.kind} ${error.agent} ${error.provider} ${error.status}");
    }
    """
    outcome = run(AGENTS + source, connections=server.connections(provider))
    assert outcome.out == "Authentication Reader openai Some(401)\n"


@on_every_wire
def test_what_nobody_scripted(server: Server, run: Run, provider: str) -> None:
    source = """
    fn main() {
        let error = Assistant.execute("nothing of the kind").err().unwrap();
        println("${error.kind} ${error.status}");
    }
    """
    assert run(AGENTS + source, connections=server.connections(provider)).out == "ProviderError Some(404)\n"

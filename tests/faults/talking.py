"""One conversation with a model server through the proxy, and what came of it.

The program lets a model call two tools and answer. How it ended is judged by what the proxy let through:

- `right`: the answer and the calls are those of the server;
- `error`: an AgentError of a known kind, in the program's own hands;
- `changed`: another answer or other calls, and what the proxy let through is whole in every respect: HTTP,
  UTF-8, events with the type that their line names, JSON. Only words in it are others (`sum` or the key
  `content`), which nothing but a checksum could tell, and no wire has one;
- `WRONG`: everything else, also a run that leaves a connection, a thread or a file open.
"""

from __future__ import annotations

import io
import json
import threading
import time
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from concerto import Program, Runtime, compile_source
from concerto.manifest.models import Manifest
from concerto.runtime.failures import AgentKind
from tests.faults.proxy import Fault, FaultyProxy
from tests.runtime.servers import ModelServer

WIRES = ("openai", "openai-responses", "anthropic", "google")
FORMS = ("execute", "stream")
ANSWER = "The sum is 42 and its double 84."

_TOOLS = """
tool Calculator {
    description: "Arithmetic",
    @describe("Add two numbers") pub fn add(@param("one") a: Int, @param("other") b: Int) -> Int {
        println("add ${a} ${b}");
        a + b
    }
    @describe("Twice a number") pub fn double(@param("it") n: Int) -> Int {
        println("double ${n}");
        2 * n
    }
}
connect server { provider: openai }
agent Assistant { provider: server, model: "m", tools: [Calculator] }
"""
_FORMS = {
    "execute": """
fn main() {
    match Assistant.execute("go") {
        Ok(response) => println("answer ${response.text}"),
        Err(error) => println("error ${error.kind}"),
    }
}""",
    "stream": """
fn main() {
    try {
        let mut text = "";
        for chunk in Assistant.stream("go")? { text = text + chunk.text; }
        println("answer ${text}");
    } catch AgentError(error) { println("error ${error.kind}"); }
}""",
}
_RIGHT = ["add 17 25", "double 42", f"answer {ANSWER}"]
_KINDS = frozenset(kind.value for kind in AgentKind)
_SECONDS = 0.5
"""How long a missing byte is waited for. A slow machine makes more errors of it, never others."""
_PATIENCE = 60.0


@dataclass(frozen=True)
class Outcome:
    """`verdict` as the module says; `lines` are the program's."""

    verdict: str
    lines: list[str]
    errors: str


class Talk:
    """Conversations on one wire, in one form."""

    def __init__(self, server: ModelServer, proxy: FaultyProxy, wire: str, form: str) -> None:
        self._server, self._proxy, self._wire, self._form = server, proxy, wire, form
        self._program: Program = compile_source(_TOOLS + _FORMS[form])
        there = server.connection(wire)
        there["base_url"] = there["base_url"].replace(server.url, proxy.url)
        self._connection = {**there, "retry": {"max_attempts": 1}}

    def run(self, fault: Fault | None) -> Outcome:
        self._server.reset()
        self._server.queue(
            {"type": "reply", "tool_calls": [{"name": "Calculator__add", "arguments": {"a": 17, "b": 25}}]},
            {"type": "reply", "tool_calls": [{"name": "Calculator__double", "arguments": {"n": 42}}]},
            {"type": "reply", "text": ANSWER},
        )
        self._proxy.arm(fault)
        connection = {**self._connection, "timeout": _SECONDS if fault else _PATIENCE}
        manifest = Manifest.model_validate({"connections": {"server": connection}})
        before = _held()
        output, errors = io.StringIO(), io.StringIO()
        runtime = Runtime(
            self._program, manifest=manifest, quiet=True, environment={}, output=output, errors=errors
        )
        result = runtime.run()
        lines = output.getvalue().splitlines()
        if result.status or not self._is_tidy(before):
            return Outcome("WRONG", lines, errors.getvalue() or f"left behind: {_held()} after {before}")
        return Outcome(self._verdict(lines), lines, errors.getvalue())

    def _is_tidy(self, before: tuple[int, int]) -> bool:
        """Whether the run has left nothing open, or the proxy, which sees it later, says so soon."""
        ends = time.monotonic() + _PATIENCE
        while (self._proxy.open or _held() != before) and time.monotonic() < ends:
            time.sleep(0.001)
        return not self._proxy.open and _held() == before

    def _verdict(self, lines: list[str]) -> str:
        last = lines[-1]
        if lines == _RIGHT:
            return "right"
        if last.startswith("error ") and last.removeprefix("error ") in _KINDS:
            return "error"
        try:
            for each in self._proxy.said:
                _check_whole(bytes(each))
        except (ValueError, HTTPException):
            return "WRONG"
        return "changed"


def _held() -> tuple[int, int]:
    """Open files and living threads."""
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


def _check_whole(said: bytes) -> None:
    """ValueError or HTTPException if what came out of a connection is not whole answers of a server."""
    stream = io.BytesIO(said)
    while stream.tell() < len(said):
        response = HTTPResponse(_Socket(stream), method="POST")  # type: ignore[arg-type]
        response.begin()
        body = response.read().decode("utf-8")
        if body.lstrip().startswith("{"):
            json.loads(body)
        else:
            _check_events(body)


class _Socket:
    """What HTTPResponse wants of a socket; the file stays open for the next answer."""

    def __init__(self, stream: io.BytesIO) -> None:
        self._stream = stream

    def makefile(self, mode: str) -> io.BufferedIOBase:
        return _Kept(self._stream)


class _Kept(io.BufferedIOBase):
    def __init__(self, stream: io.BytesIO) -> None:
        self.read, self.readline = stream.read, stream.readline  # type: ignore[method-assign]
        self.readinto = stream.readinto  # type: ignore[method-assign]


def _check_events(body: str) -> None:
    event = ""
    for line in body.split("\n"):
        name, _, value = line.removesuffix("\r").partition(":")
        if name not in ("data", "event", ""):
            raise ValueError(f"`{name}` is no field of an event")
        if name == "event":
            event = value.strip()
        if name == "data" and value.strip() != "[DONE]":
            said = json.loads(value)
            if event and said.get("type", event) != event:
                raise ValueError(f"an event `{event}` says that it is another")

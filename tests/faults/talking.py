"""One conversation with a model server through the proxy, and what came of it.

The program lets a model call two tools and answer. How it ended is judged by what the proxy let through:

- `right`: the answer and the calls are those of the server;
- `error`: an AgentError of a known kind, in the program's own hands;
- `changed`: another answer or other calls, and what the proxy let through is whole in every respect: HTTP,
  UTF-8, events with the type that their line names, JSON. Only words in it are others (`sum` or the key
  `content`), which nothing but a checksum could tell, and no wire has one;
- `WRONG`: everything else, also a run that leaves a connection, a thread or a file open, and one that a delay
  changes.
"""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead
from pathlib import Path

from concerto import Program, Runtime, compile_source
from concerto.effects.error_kinds import AgentKind
from concerto.manifest.models import Manifest
from concerto.runtime.llm.http import ModelServer as Met
from concerto.runtime.run.options import RunOptions
from tests.faults.proxy import FaultyProxy
from tests.faults.replaying import Replay
from tests.faults.spoiling import Fault
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
AT_ONCE = ("delay", "close", "reset")
"""Kinds of faults after which no byte is missing that could be waited for."""
SECONDS = 0.5
"""How long a missing byte is waited for. A slow machine makes more errors of it, never others."""
PATIENCE = 60.0


@dataclass(frozen=True)
class Outcome:
    """`verdict` as the module says; `lines` are the program's."""

    verdict: str
    lines: list[str]
    errors: str


class Talk:
    """Conversations on one wire, in one form, each request tried up to `attempts` times."""

    def __init__(self, server: ModelServer, wire: str, form: str, attempts: int = 1) -> None:
        self.server = server
        self._program: Program = compile_source(_TOOLS + _FORMS[form])
        self._connection = server.connection(wire)
        self._retry = {"max_attempts": attempts, "initial_delay_ms": 1}

    def with_server(self, proxy: FaultyProxy, fault: Fault | None) -> Outcome:
        """A conversation with the real server."""
        self.server.reset()
        self.server.queue(
            {"type": "reply", "tool_calls": [{"name": "Calculator__add", "arguments": {"a": 17, "b": 25}}]},
            {"type": "reply", "tool_calls": [{"name": "Calculator__double", "arguments": {"n": 42}}]},
            {"type": "reply", "text": ANSWER},
        )
        proxy.arm(fault)
        before = held()
        run = self._begin(proxy.url, fault)
        run.runtime.run()
        ends = time.monotonic() + PATIENCE
        while (proxy.open or held() != before) and time.monotonic() < ends:
            time.sleep(0.001)
        left = f"left behind: {held()} after {before}" if held() != before else ""
        return run.outcome(proxy.said, left or _still(proxy.open))

    async def with_replay(self, replay: Replay, fault: Fault | None) -> Outcome:
        """A conversation with the recording of another one."""
        replay.arm(fault)
        # Connections that runs share are open longer than the run.
        servers: dict[str, Met] = {}
        run = self._begin(replay.url, fault, RunOptions(model_servers=servers))
        ends = time.monotonic() + PATIENCE
        try:
            await asyncio.wait_for(run.runtime.run_async(), PATIENCE)
        except TimeoutError:
            return run.outcome(replay.said, "hangs")
        for server in servers.values():
            await server.close()
        while replay.open and time.monotonic() < ends:
            await asyncio.sleep(0.001)
        unlike = f"asked {replay.unlike!r}" if replay.unlike else ""
        return run.outcome(replay.said, unlike or _still(replay.open))

    def _begin(self, url: str, fault: Fault | None, options: RunOptions | None = None) -> _Run:
        there = self._connection["base_url"].replace(self.server.url, url)
        untouched = fault is None or fault.kind == "delay"
        seconds = PATIENCE if fault is None or fault.kind in AT_ONCE else SECONDS
        connection = {**self._connection, "base_url": there, "timeout": seconds, "retry": self._retry}
        manifest = Manifest.model_validate({"connections": {"server": connection}})
        allowed = ("right",) if untouched else ("right", "error", "changed")
        return _Run(self._program, manifest, allowed, options)


class _Run:
    """One run of the program, which keeps what it prints. It may end in one of the verdicts `allowed`."""

    def __init__(
        self, program: Program, manifest: Manifest, allowed: Sequence[str], options: RunOptions | None
    ) -> None:
        self._output, self._errors = io.StringIO(), io.StringIO()
        self._allowed = allowed
        self.runtime = Runtime(
            program,
            options,
            manifest=manifest,
            quiet=True,
            environment={},
            output=self._output,
            errors=self._errors,
        )

    def outcome(self, said: list[bytearray], trouble: str) -> Outcome:
        """`said` is all that came from the server; `trouble` is what the run has done wrong."""
        lines, errors = self._output.getvalue().splitlines(), self._errors.getvalue()
        if trouble or self.runtime.result is None or self.runtime.result.status:
            return Outcome("WRONG", lines, trouble or errors)
        verdict = _verdict(lines, said)
        return Outcome(verdict if verdict in self._allowed else "WRONG", lines, errors)


def _verdict(lines: list[str], said: list[bytearray]) -> str:
    last = lines[-1]
    if lines == _RIGHT:
        return "right"
    if last.startswith("error ") and last.removeprefix("error ") in _KINDS:
        return "error"
    try:
        for each in said:
            _check_whole(bytes(each))
    except (ValueError, HTTPException):
        return "WRONG"
    return "changed"


def _still(connections: int) -> str:
    return f"{connections} connections are still open" if connections else ""


def held() -> tuple[int, int]:
    """Open files and living threads."""
    return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


def _check_whole(said: bytes) -> None:
    """ValueError or HTTPException if what came out of a connection is not whole answers of a server."""
    for body in bodies(said):
        if body.lstrip().startswith("{"):
            json.loads(body)
        else:
            _check_events(body)


def bodies(said: bytes, *, cut: bool = False) -> Iterator[str]:
    """The bodies of all answers on a connection, the last one as far as it goes if it may be `cut`;
    ValueError or HTTPException where it is not HTTP."""
    stream = io.BytesIO(said)
    while stream.tell() < len(said):
        response = HTTPResponse(_Socket(stream), method="POST")  # type: ignore[arg-type]
        response.begin()
        try:
            yield response.read().decode("utf-8")
        except IncompleteRead as incomplete:
            if not cut:
                raise
            yield incomplete.partial.decode("utf-8")


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
            if event:
                raise ValueError(f"an event `{event}` has no data")
            event = value.strip()
        if name == "data" and value.strip() != "[DONE]":
            said = json.loads(value)
            if event and said.get("type") != event:
                raise ValueError(f"an event `{event}` says that it is another")
            event = ""

"""One conversation with an MCP server whose words are spoilt on the way, and what came of it.

The program calls two tools. The verdicts are those of `tests.faults.talking`; an error is a ToolError of a
known kind, or the refusal of a server whose tools are not those declared.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol
from uuid import uuid4

from concerto import Program, Runtime, compile_source
from concerto.json_data import Json
from concerto.manifest.models import Manifest
from tests.faults.proxy import FaultyProxy
from tests.faults.spoiling import Fault, Spoiler
from tests.faults.talking import PATIENCE, Outcome, bodies
from tests.mcp.peers import processes_with
from tests.runtime.servers import free_port, wait_until

_HERE = Path(__file__).parent
_SERVER = _HERE / "calculating_server.py"
_PROXY = _HERE / "pipe_proxy.py"
_PROGRAM = """
mcp Calculator {
    @describe("Add two numbers") @param("a", "one") @param("b", "other")
    fn add(a: Int, b: Int) -> Result<Int, ToolError>;
    @describe("Twice a number") @param("n", "it")
    fn double(n: Int) -> Result<Int, ToolError>;
}
fn main() {
    match Calculator.add(17, 25) { Ok(n) => println("add ${n}"), Err(e) => println("error ${e.kind}") }
    match Calculator.double(42) { Ok(n) => println("double ${n}"), Err(e) => println("error ${e.kind}") }
}
"""
_RIGHT = ["add 42", "double 84"]
_KINDS = (
    "ToolFailed", "Timeout", "InvalidResult", "InterfaceMismatch", "ServerFailed", "ServerUnavailable",
    "OutcomeUnknown",
)  # fmt: skip
_ERRORS = {f"error {kind}" for kind in _KINDS}
_SECONDS = 3.0
"""How long a missing byte is waited for."""


class Way(Protocol):
    """A way to the server that spoils what passes."""

    @property
    def passed(self) -> dict[bool, int]:
        """How many bytes the client has said (True) and the server (False)."""

    def arm(self, fault: Fault | None) -> Mapping[str, Json]:
        """The settings of the server for a new conversation with this fault in it."""

    def trouble(self) -> str:
        """What the last conversation has left behind."""

    def is_whole(self) -> bool:
        """Whether all that came to the client is JSON, inside of HTTP if it came by that."""


async def talk(way: Way, fault: Fault | None) -> Outcome:
    untouched = fault is None or fault.kind == "delay"
    seconds = PATIENCE if fault is None or fault.kind == "delay" else _SECONDS
    settings = {**way.arm(fault), "timeout": seconds, "start_timeout": seconds}
    manifest = Manifest.model_validate({"mcp": {"Calculator": settings}})
    output, errors = io.StringIO(), io.StringIO()
    runtime = Runtime(
        _program(), manifest=manifest, quiet=True, environment=os.environ, output=output, errors=errors
    )
    ends = time.monotonic() + PATIENCE
    try:
        result = await asyncio.wait_for(runtime.run_async(), PATIENCE)
    except TimeoutError:
        return Outcome("WRONG", output.getvalue().splitlines(), "hangs")
    while (trouble := way.trouble()) and time.monotonic() < ends:
        await asyncio.sleep(0.002)
    lines = output.getvalue().splitlines()
    if trouble:
        return Outcome("WRONG", lines, trouble)
    verdict = _verdict(lines, result.status, str(result.error), way)
    allowed = ("right",) if untouched else ("right", "error", "changed")
    return Outcome(verdict if verdict in allowed else "WRONG", lines, errors.getvalue())


def _verdict(lines: list[str], status: int, error: str, way: Way) -> str:
    if status:
        return "error" if status == 1 and "does not fit its declaration" in error else "WRONG"
    if lines == _RIGHT:
        return "right"
    if len(lines) == len(_RIGHT) and all(
        line == right or line in _ERRORS for line, right in zip(lines, _RIGHT, strict=True)
    ):
        return "error"
    return "changed" if way.is_whole() else "WRONG"


@cache
def _program() -> Program:
    return compile_source(_PROGRAM)


class HttpWay:
    """To a server over `http` or `sse`."""

    def __init__(self, transport: str, proxy: FaultyProxy) -> None:
        self._transport, self._proxy = transport, proxy

    @property
    def passed(self) -> dict[bool, int]:
        return self._proxy.spoiler.passed

    def arm(self, fault: Fault | None) -> Mapping[str, Json]:
        self._proxy.arm(fault)
        path = "/sse" if self._transport == "sse" else "/mcp"
        return {"transport": self._transport, "url": self._proxy.url + path}

    def trouble(self) -> str:
        return f"{self._proxy.open} connections are still open" if self._proxy.open else ""

    def is_whole(self) -> bool:
        try:
            for each in self._proxy.said:
                for body in bodies(bytes(each), cut=True):
                    for event in body.split("\r\n\r\n")[:-1]:
                        _check_event(event)
        except (ValueError, HTTPException):
            return False
        return True


def _check_event(text: str) -> None:
    fields = dict(line.split(": ", 1) for line in text.split("\r\n"))
    if fields.keys() != {"event", "data"} or fields["event"] not in ("message", "endpoint"):
        raise ValueError(f"no event of MCP: {text}")
    if fields["event"] == "message":
        json.loads(fields["data"])


class PipeWay:
    """To a server over stdio, or to the recording of one if there is no command."""

    def __init__(self, recording: Path, command: Sequence[str] = ()) -> None:
        self._recording, self._command = recording, command
        self._mark = f"faults-{uuid4().hex}"
        self._fault: Fault | None = None

    @property
    def passed(self) -> dict[bool, int]:
        spoken = self._spoken()
        return {True: sum(len(asked) for asked, _ in spoken), False: len(self._answers())}

    def arm(self, fault: Fault | None) -> Mapping[str, Json]:
        self._fault = fault
        kind, at, in_request = fault or ("none", 0, False)
        way = "asked" if in_request else "said"
        words = [
            sys.executable,
            "-I",
            "-S",
            str(_PROXY),
            str(self._recording),
            kind,
            str(at),
            way,
            self._mark,
        ]
        return {"command": words[0], "args": [*words[1:], *self._command]}

    def trouble(self) -> str:
        left = processes_with(self._mark)
        return f"the processes {left} still run" if left else ""

    def is_whole(self) -> bool:
        spoilt = Spoiler(self._fault).steps(self._answers(), in_request=False)
        try:
            for line in b"".join([step for step in spoilt if isinstance(step, bytes)]).splitlines():
                json.loads(line)
        except ValueError:
            return False
        return True

    def _spoken(self) -> list[tuple[str, str]]:
        return [(asked, said) for asked, said in json.loads(self._recording.read_text(encoding="utf-8"))]

    def _answers(self) -> bytes:
        return "".join([said for _, said in self._spoken()]).encode()


@contextmanager
def ways(transport: str, many: int) -> Iterator[list[Way]]:
    """So many ways to one server, or to the recording of it over stdio."""
    with ExitStack() as stack:
        if transport == "stdio":
            recording = Path(stack.enter_context(TemporaryDirectory())) / "recording.json"
            outcome = asyncio.run(talk(PipeWay(recording, [sys.executable, str(_SERVER), "stdio"]), None))
            assert outcome.verdict == "right", outcome
            yield [PipeWay(recording) for _ in range(many)]
            return
        server = stack.enter_context(_server(transport))
        proxies = [stack.enter_context(FaultyProxy(server).running()) for _ in range(many)]
        yield [HttpWay(transport, proxy) for proxy in proxies]


@contextmanager
def _server(transport: str) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, str(_SERVER), transport, str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: socket.create_connection(("127.0.0.1", port), timeout=60).close(), process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(240)

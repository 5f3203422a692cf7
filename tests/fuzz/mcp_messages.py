"""Spoilt messages of MCP servers: what they list and answer is used as far as it can be read, or is a typed
error that names the server.

`recorded_mcp.json` holds what mcp-server-time, mcp-server-git and server-everything said.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random

from mcp.types import CallToolResult, ListToolsResult
from pydantic import ValidationError

from concerto.compiler import compile_source
from concerto.contracts.comparison import compare
from concerto.contracts.interface import Interface, offered_tool
from concerto.contracts.lock_file import BadLock, LockedServer, lock_text, read_lock
from concerto.contracts.update_block import new_block
from concerto.diagnostics import Problems, render
from concerto.json_data import Json
from concerto.manifest.models import Manifest
from concerto.program import Program, Runtime
from concerto.runtime.mcp.content import fitting_content, plain_content, without_data
from concerto.schema.writing import as_written
from concerto.source import Source
from concerto.syntax.parser import parse
from tests.fuzz.mutating import spoilt_bytes, spoilt_json
from tests.harness.complaints import complaints_of_asyncio
from tests.mcp.peers import python_server
from tests.properties.checks import Broken

_RECORDED: dict[str, dict[str, Json]] = json.loads(
    Path(__file__).with_name("recorded_mcp.json").read_text(encoding="utf-8")
)
_PROXY = Path(__file__).with_name("spoiling_proxy.py")
_TYPES: tuple[Json, ...] = (
    {"type": "string"}, {"type": "integer"}, {"type": "null"}, {},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"timezone": {"type": "string"}, "is_dst": {"type": "boolean"}}},
)  # fmt: skip

PROGRAM = """
struct Moment { timezone: String, datetime: String, is_dst: Bool }
mcp Time {
    @describe("Now") @param("timezone", "IANA name")
    fn get_current_time(timezone: String) -> Result<Moment, ToolError>;
    @describe("Other")
    @param("source_timezone", "From") @param("time", "HH:MM") @param("target_timezone", "To")
    fn convert_time(source_timezone: String, time: String, target_timezone: String) -> Result<Any, ToolError>;
}
fn main() {
    match Time.get_current_time("Asia/Tokyo") { Ok(m) => println(m), Err(e) => println(e.kind + e.message) }
    match Time.convert_time("UTC", "12:00", "Asia/Tokyo") {
        Ok(m) => println("${m}"), Err(e) => println("${e.kind} ${e.message}")
    }
}
"""


def interfaces_are_read_or_refused(random: Random) -> None:
    """A spoilt list of tools: compared, declared, locked."""
    offered = random.choice(list(_RECORDED.values()))["tools/list"]
    spoilt = spoilt_json(spoilt_json(offered, random), random)
    try:
        before, after = _interface(offered), _interface(spoilt)
        if after is None or before is None:
            return
        for basis in ("declared", "locked"):
            compare(before, after, basis)
            compare(after, before, basis)
        _is_a_program(new_block("Server", after, "").text)
        for tool in after.values():
            as_written({"timezone": None, "x": [1]}, tool.parameters, tool.parameters)
        _lock_keeps(after, random)
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", json.dumps(spoilt)) from crash


def results_are_read_or_refused(random: Random) -> None:
    """A spoilt answer to a call, taken with and without a declared type."""
    recorded = [result for server in _RECORDED.values() for result in server["tools/call"]]
    spoilt = spoilt_json(random.choice(recorded), random)
    own, declared = random.choice((None, *_TYPES)), spoilt_json(random.choice(_TYPES), random)
    try:
        result = CallToolResult.model_validate(spoilt, by_name=False)
    except ValidationError:
        return
    try:
        json.dumps(without_data(plain_content(result, own)))
        refusing = random.random() < 0.7
        json.dumps(fitting_content(result, own, declared, lambda form: "no" if refusing else None))
    except ValueError as refused:
        if str(refused) != "no":
            raise Broken(f"{refused!r}", json.dumps([spoilt, own, declared])) from refused
    except Exception as crash:
        raise Broken(f"{type(crash).__name__}: {crash}", json.dumps([spoilt, own, declared])) from crash


def sessions_end_in_values_or_errors(random: Random) -> None:
    """A program that calls a server whose messages are spoilt."""
    _session(str(random.random()), random.choice((0.2, 0.5)), [], seconds=1.5)


def real_sessions_end_in_values_or_errors(random: Random) -> None:
    """The same with a real server behind the proxy."""
    command = [python_server("mcp-server-time"), "--local-timezone", "UTC"]
    _session(str(random.random()), random.choice((0.2, 0.4)), command, seconds=8.0)


def _session(seed: str, share: float, command: list[str], seconds: float) -> None:
    words = [sys.executable, "-I", "-S", str(_PROXY), seed, str(share), *command]
    settings = {"command": words[0], "args": words[1:], "timeout": seconds}
    out, errors = StringIO(), StringIO()
    with complaints_of_asyncio() as complaints:
        runtime = Runtime(
            _program(), manifest=Manifest.model_validate({"mcp": {"Time": settings}}), quiet=True, output=out,
            errors=errors, timeout=60.0, environment=os.environ,
        )  # fmt: skip
        result = runtime.run()
    fits = result.status == 1 and "does not fit its declaration" in str(result.error)
    if complaints or not (fits or (result.status == 0 and len(out.getvalue().splitlines()) >= 2)):
        said = f"{result!r}\n{out.getvalue()}\n{errors.getvalue()}\n{complaints}"
        raise Broken(said, " ".join(words))


def _interface(listed: Json) -> Interface | None:
    """The tools of a list, None if its messages cannot be read."""
    try:
        tools = ListToolsResult.model_validate(listed, by_name=False).tools
    except ValidationError:
        return None
    return {tool.name: offered_tool(tool) for tool in tools}


def _is_a_program(text: str) -> None:
    problems = Problems()
    parse(Source("main.conc", text), problems)
    assert not problems.errors, f"{render(problems)}\n{text}"


def _lock_keeps(interface: Interface, random: Random) -> None:
    """A lock holds an interface as it is, and a spoilt lock is refused."""
    text = lock_text({"Server": LockedServer("1", interface)})
    kept = read_lock(text.encode("utf-8", "surrogatepass"))["Server"].tools
    assert sorted(map(repr, kept.values())) == sorted(map(repr, interface.values()))
    try:
        locked: Mapping[str, LockedServer] = read_lock(spoilt_bytes(text.encode("utf-8", "replace"), random))
        for server in locked.values():
            compare(server.tools, interface, "locked")
    except BadLock:
        pass


@cache
def _program() -> Program:
    return compile_source(PROGRAM)

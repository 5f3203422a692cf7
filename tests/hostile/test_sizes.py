"""No answer from outside takes more than its size limit in memory, whoever gives it and however it is
sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.flooding import MEGABYTES, Flood

_MOST = 280
"""Megabytes that a run may have at its highest: what is imported for a server, its limit, and copies."""
assert MEGABYTES > 2 * _MOST

_FLOODING = Path(__file__).with_name("flooding.py")
_ASK = """
agent Assistant { provider: server, model: "m", retry_policy: { max_attempts: 1 }, timeout: 60 }
fn main() {
    match Assistant.execute("x") { Ok(r) => println(r.text.len()), Err(e) => println(e.kind) }
}
"""
_STREAM = """
agent Assistant { provider: server, model: "m", retry_policy: { max_attempts: 1 }, timeout: 60 }
fn read() -> Result<Int, AgentError> {
    for chunk in Assistant.stream("x")? { print(chunk.text); }
    Ok(1)
}
fn main() { match read() { Ok(r) => println(r), Err(e) => println(e.kind) } }
"""
_FETCH = """
use std::http;
fn main() {
    match http::get("URL") { Ok(r) => println(r.body.len()), Err(e) => println(e.kind) }
}
"""
_SHELL = """
use std::tools::ShellTool;
fn main() {
    let text = ShellTool.exec("head -c 600000000 /dev/zero; head -c 600000000 /dev/zero >&2").unwrap();
    println(text.ends_with("[output cut]"));
}
"""
_HOST = """
host Worker { connector: worker }
fn main() { match Worker.execute("x") { Ok(r) => println(r.text.len()), Err(e) => println(e.kind) } }
"""
_MCP = """
mcp Flood { @describe("x") fn flood() -> Result<String, ToolError>; }
fn main() { match Flood.flood() { Ok(text) => println(text.len()), Err(e) => println(e.kind) } }
"""
_SERVER = '[connections.server]\nprovider = "custom"\nbase_url = "URL/%s"\n'
_PEER = f'command = {json.dumps(sys.executable)}\nargs = ["-S", {json.dumps(str(_FLOODING))}, "%s"]\n'

ANSWERS = {
    "a model": (_ASK, _SERVER % "plain", "InvalidReply"),
    "a model, packed": (_ASK, _SERVER % "gzip", "InvalidReply"),
    "a model, of many values": (_ASK, _SERVER % "values", "InvalidReply"),
    "a model, one line of a stream": (_STREAM, _SERVER % "line", "InvalidReply"),
    "a model, a stream of events": (_STREAM, _SERVER % "events", "InvalidReply"),
    "a model, a stream of comments": (_STREAM, _SERVER % "comments", "InvalidReply"),
    "a model, a stream packed": (_STREAM, _SERVER % "gzip", "InvalidReply"),
    "a server": (_FETCH.replace("URL", "URL/plain"), "", "TooLarge"),
    "a server, packed": (_FETCH.replace("URL", "URL/gzip"), "", "TooLarge"),
    "a command": (_SHELL, "", "true"),
    "a host": (_HOST, "[hosts.worker]\n" + _PEER % "HOST", "InvalidReply"),
    "MCP over stdio": (_MCP, "[mcp.Flood]\n" + _PEER % "MCP", "InvalidResult"),
    "MCP over http": (_MCP, '[mcp.Flood]\nurl = "URL/mcp"\n', "InvalidResult"),
    "MCP over http, packed": (_MCP, '[mcp.Flood]\nurl = "URL/mcp/gzip"\n', "InvalidResult"),
    "MCP over http, an event": (_MCP, '[mcp.Flood]\nurl = "URL/mcp/events"\n', "InvalidResult"),
    "MCP over sse": (_MCP, '[mcp.Flood]\ntransport = "sse"\nurl = "URL/sse"\n', "OutcomeUnknown"),
}
_START = """
from concerto.cli.entry import concerto
try:
    concerto()
finally:
    # Not `ru_maxrss`, which counts what the process was forked from.
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print(peak.split()[1], file=open("peak", "w"))
"""


@pytest.fixture(scope="module")
def flood() -> Iterator[Flood]:
    with Flood() as server:
        yield server


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("name", ANSWERS)
def test_no_answer_takes_more_memory_than_it_may(tmp_path: Path, flood: Flood, name: str) -> None:
    source, manifest, said = ANSWERS[name]
    permissions = '[permissions]\nShellTool = true\nhttp = ["127.0.0.1"]\n'
    (tmp_path / "main.conc").write_text(source.replace("URL", flood.url))
    (tmp_path / "Concerto.toml").write_text(manifest.replace("URL", flood.url) + permissions)
    done = subprocess.run(
        [sys.executable, "-c", _START, "run", "--quiet", "main.conc"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CONCERTO_STATE": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == (f"{said}\n", 0), done.stderr
    assert int((tmp_path / "peak").read_text()) / 1024 < _MOST

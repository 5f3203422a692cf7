"""What a project's manifest settles holds whoever runs its program: a table of ways in and settings.

One program tries every setting and says in lines `setting = answer` what became of it; each way in makes it
do so once for each manifest.
"""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from concerto import Runtime, compile_file, compile_source
from concerto.testing import ToolExecutor, ToolFailed
from tests.hostile.commands import concerto
from tests.mcp.test_serving import over_http
from tests.runtime.servers import Script, Seen, chat_reply

SOURCE = """
use std::fs;
use std::http;
use std::time;
tool Vault { description: "denied", @describe("o") pub fn open() -> Result<Int, ToolError> { Ok(1) } }
tool Bank {
    description: "denied in part",
    @describe("l") pub fn look() -> Result<Int, ToolError> { Ok(1) }
    @describe("t") pub fn transfer() -> Result<Int, ToolError> { Ok(2) }
}
tool Gate { description: "a person", @describe("p") pub fn pass() -> Result<String, ToolError>; }
tool Probe { description: "all of this", @describe("a") pub fn all() -> String { settings() } }
agent Asker { provider: desk, model: "cheap" }
agent Spender { provider: desk, model: "dear" }
agent Looper { provider: desk, model: "loop", tools: [Bank] }

fn told<T, E>(result: Result<T, E>) -> String {
    match result {
        Ok(value) => "${value}",
        Err(error) => { let failure: Any = error; "${failure.kind}" }
    }
}
fn asked(response: Result<Response, AgentError>) -> String { told(response.map(|r| r.text)) }

pub fn settings() -> String {
    if fs::exists("data/slow.txt") { time::sleep(60000); }
    let calls = [Bank.transfer(), Bank.look()];
    let mut lines = [
        "tool = ${told(Vault.open())}",
        "method = ${told(calls[0])} ${told(calls[1])}",
        "files = ${told(fs::read_file("here.txt"))} ${told(fs::read_file("data/in.txt"))}",
        "http = ${told(http::get("OTHER"))} ${http::get("URL").unwrap().status}",
    ];
    lines.push("connections = ${asked(Asker.execute("who?"))}");
    lines.push("iterations = ${asked(Looper.execute("again"))}");
    lines.push("budget = ${asked(Spender.execute("1"))} ${asked(Spender.execute("2"))}");
    lines.join("\\n")
}
fn main(args: Array<String>) {
    if args.len() > 0 { Gate.pass(); }
    println(settings());
}
@test fn all() { println(settings()); panic("what is printed is shown"); }
"""
MANIFEST = """
[project]
name = "p"
entry = "main.conc"
[permissions]
Vault = false
files = ["data"]
http = ["127.0.0.1"]
[permissions.Bank]
transfer = false
[connections.desk]
provider = "openai"
base_url = "{url}"
api_key_env = "PATH"
headers = {{ X-Team = "support" }}
[prices]
cheap = {{ input = 0.0, output = 0.0 }}
loop = {{ input = 0.0, output = 0.0 }}
dear = {{ input = 1000000.0, output = 1000000.0 }}
[runtime]
max_iterations = 2
{limit}
"""
LIMITS = {"usd": "max_usd = 10", "tokens": "max_tokens = 60", "time": "timeout = 0.5"}

PERMITTED = {
    "tool": "PermissionDenied",
    "method": "PermissionDenied 1",
    "files": "PermissionDenied within",
    "http": "PermissionDenied 200",
}
FROM_A_SERVER = {
    "connections": "support",
    "iterations": "MaxIterationsExceeded",
    "budget": "support BudgetExceeded",
}
EXPECTED = {
    "usd": PERMITTED | FROM_A_SERVER,
    "tokens": FROM_A_SERVER,
    "time": {"timeout": "0.5 s"},
}
LEFT_OUT = {
    ("concerto test", name): "only what is mocked answers an agent in a test, and that is free"
    for name in FROM_A_SERVER
}
COMMAND = "from concerto.cli.entry import concerto; concerto()"


def _of_process(done: subprocess.CompletedProcess[str]) -> str:
    return done.stdout + done.stderr


def _from_source(folder: Path) -> str:
    return _of_process(concerto(folder, "run", "main.conc"))


def _from_ir(folder: Path) -> str:
    concerto(folder, "build", "main.conc", name="concertoc")
    (compiled,) = folder.rglob("*.conc-ir")
    return _of_process(concerto(folder, "run", str(compiled)))


def _of_runtime(folder: Path, run: Callable[[Runtime], Any]) -> str:
    written = io.StringIO()
    run(Runtime(compile_file(folder / "main.conc"), output=written, errors=written))
    return written.getvalue()


async def _streamed(runtime: Runtime) -> None:
    async for _ in runtime.stream():
        pass


def _executed(folder: Path, execute: Callable[[ToolExecutor], str]) -> str:
    try:
        return execute(ToolExecutor(compile_file(folder / "main.conc")))
    except ToolFailed as failed:
        return str(failed)


def _resumed(folder: Path) -> str:
    manifest = folder / "Concerto.toml"
    limited = manifest.read_text()
    manifest.write_text(limited.replace(LIMITS["time"], ""))  # The way to the question takes time, too.
    waiting = concerto(folder, "run", "main.conc", "--", "wait")
    found = re.search(r"concerto resume (\w+) --result (\S+)=JSON", waiting.stderr)
    assert found is not None, waiting.stderr
    manifest.write_text(limited)
    return _of_process(concerto(folder, "resume", found[1], "--result", f'{found[2]}="yes"'))


def _in_repl(folder: Path) -> str:
    given = ":load main.conc\nprintln(settings())\n"
    return _of_process(concerto(folder, "repl", given=given))


def _served(folder: Path) -> str:
    server = StdioServerParameters(
        command=sys.executable, args=["-c", COMMAND, "mcp", "serve", "main.conc"], cwd=folder
    )

    return _called(server)


def _served_over_http(folder: Path) -> str:
    with over_http(folder / "main.conc") as (url, _):
        return _called(url)


def _called(server: Any) -> str:
    async def session() -> str:
        async with Client(server) as client:
            [block] = (await client.call_tool("all", {})).content
            assert isinstance(block, TextContent)
            return block.text

    return asyncio.run(asyncio.wait_for(session(), 60))


WAYS: dict[str, Callable[[Path], str]] = {
    "concerto run main.conc": _from_source,
    "concerto run main.conc-ir": _from_ir,
    "Runtime.run": lambda folder: _of_runtime(folder, Runtime.run),
    "Runtime.run_async": lambda folder: _of_runtime(folder, lambda it: asyncio.run(it.run_async())),
    "Runtime.stream": lambda folder: _of_runtime(folder, lambda it: asyncio.run(_streamed(it))),
    "ToolExecutor": lambda folder: _executed(folder, lambda it: it.execute("Probe::all")),
    "ToolExecutor, async": lambda folder: _executed(
        folder, lambda it: asyncio.run(it.execute_async("Probe::all"))
    ),
    "concerto test": lambda folder: _of_process(concerto(folder, "test", "main.conc")),
    "concerto resume": _resumed,
    "concerto repl": _in_repl,
    "concerto mcp serve": _served,
    "concerto mcp serve --http": _served_over_http,
}


def _answer(seen: Seen) -> Any:
    """Says whose key of the manifest's headers came; to `loop` always with a call."""
    if seen.body is not None and seen.body["model"] == "loop":
        return chat_reply(None, ("1", "Bank__look", "{}"))
    return chat_reply(seen.headers.get("x-team", "nobody"))


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], dict[str, str]]]:
    """What a way in says of each setting, under the manifest with a limit."""
    with Script() as server:
        server.answer(_answer)

        def answers_of(way: str, limit: str) -> dict[str, str]:
            folder = tmp_path_factory.mktemp(limit)
            (folder / "data").mkdir()
            (folder / "data" / "in.txt").write_text("within")
            (folder / "here.txt").write_text("without")
            if limit == "time":
                (folder / "data" / "slow.txt").touch()
            other = server.url.replace("127.0.0.1", "localhost")
            (folder / "main.conc").write_text(SOURCE.replace("URL", server.url).replace("OTHER", other))
            (folder / "Concerto.toml").write_text(MANIFEST.format(url=server.url, limit=LIMITS[limit]))
            text = WAYS[way](folder)
            found = dict(re.findall(r"^\s*(\w+) = (.*)$", text, re.MULTILINE))
            if ended := re.search(r"took longer than (\S+ s)", text):
                found["timeout"] = ended[1]
            return found or {"nothing": text}

        yield answers_of


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("way", WAYS)
def test_every_setting_holds_by_every_way_in(
    answers: Callable[[str, str], dict[str, str]], way: str, limit: str
) -> None:
    expected = {name: it for name, it in EXPECTED[limit].items() if (way, name) not in LEFT_OUT}
    found = answers(way, limit)
    assert {name: found.get(name, found) for name in expected} == expected


def test_calls_after_one_whose_time_was_up_are_answered() -> None:
    source = """
    tool T {
        description: "T",
        @describe("computes") pub fn spin() -> Int { loop { } }
        @describe("answers") pub fn one() -> Int { 1 }
    }
    """
    executor = ToolExecutor(compile_source(source), timeout=0.8)
    for call in (executor.execute, lambda name: asyncio.run(executor.execute_async(name)), executor.execute):
        with pytest.raises(ToolFailed, match=r"`T::spin` took longer than 0\.8 seconds") as failed:
            call("T::spin")
        assert failed.value.kind == "Timeout"
        assert call("T::one") == 1

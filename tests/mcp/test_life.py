"""The life of a server: started late, shared, started again once, and ended whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from concerto.compiler import compile_source
from concerto.program import Runtime
from concerto.runtime.mcp.connection import Listener, McpConnection, ServerFailure
from concerto.runtime.mcp.settings import read_settings
from tests.mcp import peers
from tests.mcp.peers import scripted
from tests.runtime.running import Outcome, make_runtime

Run = Callable[..., Outcome]

FUNCTIONS = """
    @describe("Adds") @param("a", "One") @param("b", "Other")
    fn add(a: Int, b: Int = 10) -> Result<Int, ToolError>;
    @describe("Sleeps") fn sleep() -> Result<String, ToolError>;
    @describe("Dies") fn die() -> Result<String, ToolError>;
    @describe("Dies once") @param("file", "Mark") fn die_once(file: String) -> Result<String, ToolError>;
    @describe("Who") fn pid() -> Result<String, ToolError>;
    @describe("What was cancelled") fn cancelled() -> Result<Array<Int>, ToolError>;
"""


def program(command: str, body: str) -> str:
    return f"""
mcp Odd {{ transport: "stdio", command: {json.dumps(command)}, {FUNCTIONS} }}
fn main() -> Result<Nil, ToolError> {{
{body}
    Ok(nil)
}}
"""


def test_a_server_that_is_not_used_is_not_started(run: Run) -> None:
    assert run(program("no-such-server", 'println("done");')).lines == ["done"]


def test_one_server_serves_the_whole_run_at_the_same_time(run: Run, mark: str) -> None:
    body = """
    let seen = parallel for n in 0..20 { (Odd.add(n, 1).unwrap(), Odd.pid().unwrap()) };
    println(seen.map(|each| each.0).sum());
    println(seen.map(|each| each.1).unique().len());
    """
    assert run(program(scripted("well", mark), body)).lines == ["210", "1"]


def test_a_call_that_is_harmless_to_repeat_survives_a_crash(run: Run, mark: str, tmp_path: Path) -> None:
    body = f"""
    let before = Odd.pid()?;
    println(Odd.die_once("{tmp_path / "died"}")?);
    println(before == Odd.pid()?);
    """
    assert run(program(scripted("well", mark), body)).lines == ["answered by the second", "false"]


def test_calls_beside_one_that_kills_the_server_learn_of_it(run: Run, mark: str) -> None:
    body = """
    let kinds = parallel for n in 0..3 {
        match if n == 0 { Odd.die() } else { Odd.cancelled().map(|seen| "${seen}") } {
            Ok(_) => "Ok", Err(e) => e.kind
        }
    };
    println(kinds[0]);
    println(Odd.add(1)?);
    """
    assert run(program(scripted("well", mark), body)).lines == ["OutcomeUnknown", "11"]


def test_a_cancelled_call_is_cancelled_at_the_server(run: Run, mark: str) -> None:
    body = """
    Odd.add(1)?;
    println(race (Odd.sleep(), later())?);
    println(Odd.cancelled()?.len());
    """
    later = 'use std::time; fn later() -> Result<String, ToolError> { time::sleep(1500); Ok("first") }'
    assert run(program(scripted("well", mark), body) + later).lines == ["first", "1"]


def test_kill_9_in_the_middle_of_a_real_call(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A read-only tool of a server whose process is killed answers from the server started next."""
    server = peers.node_program("mcp-server-everything")
    source = f"""
mcp Everything {{
    transport: "stdio", command: "{server} stdio {mark}",
    @describe("Long") @param("duration", "s") @param("steps", "n")
    fn trigger_long_running_operation(duration: Float, steps: Int) -> Result<String, ToolError>;
}}
fn main() -> Result<Nil, ToolError> {{
    Everything.trigger_long_running_operation(0.01, 1)?;
    emit("calling", nil);
    println(Everything.trigger_long_running_operation(1.5, 1)?);
    Ok(nil)
}}
"""
    killed: list[int] = []

    def kill() -> None:
        killed.extend(peers.processes_with(mark))
        os.kill(killed[0], signal.SIGKILL)

    runtime = make_runtime(source, environment=os.environ, quiet=True)
    runtime.on("calling", lambda _: threading.Timer(0.5, kill).start())
    assert runtime.run().status == 0, capsys.readouterr().err
    assert len(killed) == 1
    done = "Long running operation completed. Duration: 1.5 seconds, Steps: 1."
    assert capsys.readouterr().out.splitlines()[-1] == done


ENDINGS = {
    "a failure": "Odd.add(1)?; let empty: Array<Int> = []; println(empty[0]);",
    "a panic": 'Odd.add(1)?; panic("enough");',
    "an exit by an error": "Odd.add(1)?; Odd.die()?;",
    "its time": "Odd.add(1)?; Odd.sleep()?;",
    "its end": "Odd.add(1)?;",
}


@pytest.mark.parametrize("how", ENDINGS)
def test_every_end_of_a_run_ends_its_servers(run: Run, mark: str, how: str) -> None:
    run(program(scripted("well", mark), ENDINGS[how]), timeout=3.0 if how == "its time" else None)
    assert peers.processes_with(mark) == []


@pytest.mark.parametrize(("number", "call"), [(signal.SIGINT, "sleep()"), (signal.SIGTERM, "add(1)")])
def test_interrupts_end_the_servers(tmp_path: Path, mark: str, number: int, call: str) -> None:
    """In a call, and while the program computes."""
    busy = "" if call == "sleep()" else "while true { }"
    (tmp_path / "main.conc").write_text(
        program(scripted("well", mark), f'Odd.add(1)?; println("here"); Odd.{call}?; {busy}')
    )
    command = [sys.executable, "-u", "-m", "concerto.cli", "run", str(tmp_path / "main.conc")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    assert len(peers.processes_with(mark)) == 1
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.startswith("error: interrupted\n")
    assert peers.processes_with(mark) == []


@pytest.mark.parametrize("turns", [0, 1, 2, 5, 50])
def test_a_server_is_ended_however_far_its_start_is(mark: str, turns: int) -> None:
    settings = read_settings("Odd", {"command": scripted("silent", mark)}, {}, {}, Path())
    connection = McpConnection(settings, Listener(lambda text: None, lambda text: None, dict(os.environ)))

    async def close_while_opening() -> None:
        opening = asyncio.create_task(connection.open())
        for _ in range(turns):
            await asyncio.sleep(0)
        await connection.close()
        with pytest.raises(ServerFailure, match="is ended"):
            await opening

    asyncio.run(asyncio.wait_for(close_while_opening(), 120))


def test_a_second_interrupt_while_a_server_takes_its_time_to_end(tmp_path: Path, mark: str) -> None:
    """A server that does not end when it is asked to, and a person who does not wait."""
    script = tmp_path / "stubborn.sh"
    script.write_text(f"trap '' TERM\n{scripted('well', mark)}\nwhile true; do sleep 1; done\n")
    source = program(f"sh {script} {mark}", 'Odd.add(1)?; println("here"); Odd.sleep()?;')
    (tmp_path / "main.conc").write_text(source)
    command = [sys.executable, "-u", "-m", "concerto.cli", "run", str(tmp_path / "main.conc")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert peers.all_end(mark)


def test_after_a_hundred_runs_nothing_is_left(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = compile_source(program(scripted("well", mark), "println(Odd.add(1)?);"))
    before = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(100):
        assert Runtime(compiled, quiet=True).run().status == 0
    assert capsys.readouterr().out == "11\n" * 100
    assert peers.processes_with(mark) == []
    after = threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))
    assert after[0] <= before[0] + 1 and after[1] <= before[1] + 4

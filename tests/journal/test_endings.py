"""Runs that stopped before their end: what commands say of them, and what they are when shown again."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import concerto
from concerto.journal.rows import EffectRow
from concerto.journal.settling import CannotResume, Decision
from concerto.runtime.run.options import RunOptions
from tests.runtime.servers import Script, chat_reply

Command: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

MANIFEST = """
[connections.here]
provider = "custom"
base_url = "URL"
default_model = "m"
"""
PRICES = '[prices."m"]\ninput = 1000\noutput = 1000\n'
SOURCE = """
tool Desk {
    description: "People",
    @describe("Ask them") @param("what", "the question")
    pub fn ask(what: String) -> Result<Int, ToolError>;
}
agent Clerk { provider: here }
fn main() -> Result<Nil, Any> {
    println(Clerk.execute("hello")?.text);
    let all = parallel for what in ["how many?", "and now?"] { Desk::ask(what)? };
    println("${all}");
    Ok(nil)
}
"""
KILLER = 'import os\nHANDLERS = {"Desk::ask": lambda given: os.kill(os.getpid(), 9)}\n'


@pytest.fixture
def command(script: Script, tmp_path: Path) -> Command:
    (tmp_path / "main.conc").write_text(SOURCE)
    (tmp_path / "killer.py").write_text(KILLER)
    (tmp_path / "Concerto.toml").write_text(MANIFEST.replace("URL", script.url) + PRICES)
    environment = {**os.environ, "CONCERTO_STORE": f"sqlite:{tmp_path / 'runs.db'}"}

    def concerto(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "concerto.cli", *arguments],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
        )

    return concerto


def listed(command: Command) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(command("runs", "--json").stdout)
    return told


def ended(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_what_waited_waits_when_it_is_shown_again(
    command: Command, script: Script, options: tuple[str, ...]
) -> None:
    script.answer(chat_reply("good day"))
    stopped = command("run", *options, "--record", "x.conc-run", "main.conc")
    assert stopped.returncode == 3, stopped
    assert "how many?" in stopped.stdout + stopped.stderr
    for shown in (command("replay", "x.conc-run"), command("replay", listed(command)[0]["id"])):
        assert ended(shown) == ended(stopped)
    assert len(script.seen) == 1


def test_what_was_cancelled_is_over(command: Command, script: Script) -> None:
    script.answer(chat_reply("good day"))
    stopped = command("run", "--quiet", "main.conc")
    run = listed(command)[0]["id"]
    assert command("runs", "cancel", run).returncode == 0
    refused = command("resume", run)
    assert (refused.returncode, refused.stderr) == (1, f"error: run `{run}` has ended: it is cancelled\n")
    assert ended(command("replay", run)) == (130, stopped.stdout, "error: the run was cancelled\n")
    assert command("runs", "prune", "--older", "0d").returncode == 0
    refused = command("resume", run)
    assert (refused.returncode, refused.stderr) == (1, f"error: there is no run `{run}`\n")
    assert command("resume", "x").returncode == 2


def test_new_code_is_taken_over_by_runs_that_have_not_ended(
    command: Command, script: Script, tmp_path: Path
) -> None:
    script.answer(chat_reply("good day"))
    command("run", "--quiet", "main.conc")
    run = listed(command)[0]["id"]
    (tmp_path / "new.conc").write_text(SOURCE.replace('"${all}"', '"new ${all}"'))
    (tmp_path / "other.conc").write_text(SOURCE.replace("how many?", "how much?"))
    refused = command("runs", "upgrade", run, "--to", "other.conc")
    assert (refused.returncode, "how much?" in refused.stderr) == (1, True), refused
    taken = command("runs", "upgrade", run, "--to", "new.conc")
    assert ended(taken) == (0, f"run {run} goes on with `new.conc`\n", "")
    for answer, status in ((1, 3), (2, 0)):
        call = listed(command)[0]["waits_for"][0]["call_id"]
        resumed = command("resume", run, "--result", f"{call}={answer}")
        assert resumed.returncode == status, resumed
    done = command("runs", "upgrade", run, "--to", "new.conc")
    assert ended(done) == (0, f"run {run} had ended: `new.conc` does what it did\n", "")
    assert command("replay", run).stdout == "good day\nnew [1, 2]\n"


def test_new_code_has_to_ask_for_what_a_run_waits_for(
    command: Command, script: Script, tmp_path: Path
) -> None:
    script.answer(chat_reply("good day"))
    command("run", "--quiet", "main.conc")
    run = listed(command)[0]["id"]
    (tmp_path / "none.conc").write_text("fn main() {}")
    (tmp_path / "less.conc").write_text(SOURCE.replace("Desk::ask(what)?", "what"))
    for file, effect in (("none.conc", "ModelCall `Clerk`"), ("less.conc", "HostCall `Desk::ask`")):
        refused = command("runs", "upgrade", run, "--to", file)
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"error: run {run} stays as it is: the run does not go as it did: ")
        assert refused.stderr.endswith(f"{effect}, was recorded and is not asked for\n")
    assert listed(command)[0]["status"] == "waiting"


NESTED = SOURCE.replace("let all", 'WRITE println(Clerk.execute("again")?.text); let all')


def test_new_code_does_nothing_new_before_what_was_recorded(
    command: Command, script: Script, tmp_path: Path
) -> None:
    """Also where all that was recorded is of branches, which number their effects themselves."""
    for _ in range(4):
        script.answer(chat_reply("good day"))
    (tmp_path / "main.conc").write_text(NESTED.replace("WRITE", ""))
    assert command("run", "--quiet", "main.conc").returncode == 3
    run = listed(command)[0]["id"]
    new = {"WriteFile": 'fs::write_file("new.txt", "x").is_ok()', "Env": 'env::get("HOME").is_some()'}
    for effect, code in new.items():
        (tmp_path / "new.conc").write_text(
            NESTED.replace("WRITE", f'try {{ println(std::{code}); }} catch {{ println("caught"); }}')
        )
        refused = command("runs", "upgrade", run, "--to", "new.conc")
        assert refused.returncode == 1, effect
        assert f"`{effect}` comes before effect 0.2/2, ModelCall `Clerk`" in refused.stderr, refused.stderr
    (tmp_path / "new.conc").write_text(NESTED.replace("WRITE", "std::" + new["WriteFile"] + ";"))
    for at in ("0.2/2", "0.3/1"):
        forked = command("fork", run, "--at", at, "--program", "new.conc")
        assert (forked.returncode, "`WriteFile` comes before effect 0.2" in forked.stderr) == (1, True)
    assert not (tmp_path / "new.txt").exists()


def test_a_fork_of_another_program_does_what_was_recorded(
    command: Command, script: Script, tmp_path: Path
) -> None:
    script.answer(chat_reply("good day"))
    command("run", "--quiet", "main.conc")
    run = listed(command)[0]["id"]
    (tmp_path / "none.conc").write_text("fn main() {}")
    call = listed(command)[0]["waits_for"][0]["effect"]
    forked = command("fork", run, "--at", call, "--program", "none.conc")
    assert forked.returncode == 1
    assert "ModelCall `Clerk`, was recorded and is not asked for" in forked.stderr
    assert [each["status"] for each in listed(command)] == ["failed", "waiting"]


def test_a_run_that_stops_at_once_keeps_what_it_has_cost(command: Command, script: Script) -> None:
    script.answer(chat_reply("good day"))
    assert command("run", "--quiet", "--handlers", "killer.py", "main.conc").returncode == -9
    before = listed(command)[0]
    assert before["cost_usd"] > 0
    assert command("resume", before["id"]).returncode == 3
    after = listed(command)[0]
    assert (after["status"], after["cost_usd"]) == ("unknown", before["cost_usd"])


def test_a_model_without_a_price_has_cost_nobody_knows_what(
    command: Command, script: Script, tmp_path: Path
) -> None:
    (tmp_path / "Concerto.toml").write_text(MANIFEST.replace("URL", script.url))
    script.answer(chat_reply("good day"))
    command("run", "--quiet", "main.conc")
    run = listed(command)[0]
    assert run["cost_usd"] is None
    assert "unknown cost" in command("runs").stdout
    assert "unknown cost" in command("runs", "show", run["id"]).stdout


def test_what_happened_is_what_was_declared(command: Command, script: Script, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text("import os\ndef count() -> int:\n    os.kill(os.getpid(), 9)\n")
    manifest = (tmp_path / "Concerto.toml").read_text()
    (tmp_path / "Concerto.toml").write_text(f'{manifest}[tools.count]\nimport = "counting:count"\n')
    (tmp_path / "main.conc").write_text(
        "agent Clerk { provider: here, tools: [count] }\n"
        'fn main() { println(Clerk.execute("count").unwrap().text); }\n'
    )
    script.answer(chat_reply(None, ("c1", "count", "{}")), chat_reply("three"))
    assert command("run", "--quiet", "main.conc").returncode == -9
    (waiting,) = listed(command)[0]["waits_for"]
    decide = ("resume", listed(command)[0]["id"], "--effect", waiting["effect"], "--happened")
    refused = command(*decide, '"text"')
    assert refused.returncode == 2
    assert "the result of `count` is not the `int` that it declares" in refused.stderr
    assert listed(command)[0]["waits_for"] == [waiting]
    assert ended(command(*decide, "3"))[:2] == (0, "three\n")
    assert script.seen[1].body["messages"][-1]["content"] == "3"


@pytest.mark.parametrize(
    ("kind", "value", "right"),
    [
        ("Shell", 5, False),
        ("Shell", "out", True),
        ("WriteFile", "x", False),
        ("WriteFile", None, True),
        ("Http", {"status": 200, "body": ""}, False),
        ("Http", {"status": 200, "body": "", "headers": {}}, True),
        ("McpCall", "x", False),
        ("McpCall", 5, True),
    ],
)
def test_what_the_library_and_servers_give_is_of_its_type(kind: str, value: Any, right: bool) -> None:
    program = concerto.compile_source(
        'mcp M { transport: "stdio", command: "x", @describe("d") pub fn f() -> Int; } fn main() { }'
    )
    store = concerto.open_store("sqlite::memory:")
    run = store.enlist(program, RunOptions())
    row = EffectRow("0/1", kind, "M::f" if kind == "McpCall" else kind, "once", request="{}", begun_at=1)
    store.store.write(run, 1, [row], durable=True)
    decided = Decision("0/1", "happened", value)
    if right:
        store.going_on(run, effect=decided)
    else:
        with pytest.raises(CannotResume, match=r"M::f|gives"):
            store.going_on(run, effect=decided)
    store.close()


KILLED = {
    "spawn, one before it": "let task = spawn ask(2); fs::read_file('main.conc'); println(ask(1)); "
    "println(task.await);",
    "spawn": "let task = spawn ask(2); let first = ask(1); println(first); println(task.await);",
    "all at once": "let (first, second) = await (ask(1), ask(2)); println(first); println(second);",
    "parallel": "for each in parallel for n in 1..=2 { ask(n) } { println(each); }",
}


@pytest.mark.parametrize("place", KILLED)
def test_what_is_unknown_of_one_branch_is_waited_for_by_all(
    command: Command, tmp_path: Path, place: str
) -> None:
    (tmp_path / "main.conc").write_text(
        """
use std::fs;
tool Desk { description: "d", @describe("Ask") @param("n", "which") pub fn ask(n: Int) -> Int; }
fn ask(n: Int) -> Int { println("asks ${n}"); Desk::ask(n) * 10 }
"""
        f"fn main() {{ {KILLED[place]} }}"
    )
    last = 1 if "fs::" in KILLED[place] else 2
    killed = f"os.kill(os.getpid(), 9) if given['n'] == {last} else given['n']"
    (tmp_path / "kill.py").write_text(f"import os\nHANDLERS = {{'tool:Desk::ask': lambda given: {killed}}}\n")
    command("run", "--handlers", "kill.py", "main.conc")
    [run] = json.loads(command("runs", "--json").stdout)
    [unknown] = run["waits_for"]
    for _ in range(2):
        undecided = command("resume", run["id"])
        assert (undecided.returncode, undecided.stdout) == (3, ""), undecided.stderr
        assert undecided.stderr.startswith(f"unknown outcome: effect {unknown['effect']}, Desk::ask(")
    told = str(unknown["arguments"]["n"])
    answered = ["--effect", unknown["effect"], *(["--repeat"] if last == 1 else ["--happened", told])]
    (tmp_path / "kill.py").write_text("HANDLERS = {'tool:Desk::ask': lambda given: given['n']}\n")
    went = command("resume", "--handlers", "kill.py", run["id"], *answered)
    assert (went.returncode, went.stdout[-3:]) == (0, "20\n"), went.stderr


SIGNING = """
tool Desk {
    description: "d",
    @describe("Ask") @param("n", "which") pub fn ask(n: Int) -> Int;
    @describe("Sign") pub fn sign() -> Int;
}
fn ask(n: Int) -> Int { Desk::ask(n) }
fn approve() -> Int { Desk::sign() }
fn main() { let (one, other) = BESIDE; println(one + other); println(approve()); }
"""


@pytest.mark.parametrize("beside", ["await (approve(), ask(1))", "await (ask(1), approve())"])
def test_a_run_that_waits_for_somebody_first_ends_what_must_not_be_repeated(
    command: Command, tmp_path: Path, beside: str
) -> None:
    (tmp_path / "main.conc").write_text(SIGNING.replace("BESIDE", beside))
    (tmp_path / "slow.py").write_text(
        """
import asyncio
async def ask(given):
    with open("asked", "a") as file:
        file.write("x")
    await asyncio.sleep(0.5)
    return given["n"]
HANDLERS = {"tool:Desk::ask": ask}
"""
    )
    stopped = command("run", "--handlers", "slow.py", "--wait", "main.conc")
    [run] = json.loads(command("runs", "--json").stdout)
    assert (stopped.returncode, run["status"]) == (3, "waiting"), stopped.stderr
    [waits] = run["waits_for"]
    went = command("resume", "--handlers", "slow.py", run["id"], "--result", f"{waits['effect']}=20")
    assert (went.returncode, went.stdout) == (3, "21\n"), went.stderr
    assert (tmp_path / "asked").read_text() == "x"


def test_what_somebody_is_waited_for_is_not_unknown_after_a_kill(command: Command, tmp_path: Path) -> None:
    (tmp_path / "main.conc").write_text(SIGNING.replace("BESIDE", "await (ask(1), approve())"))
    (tmp_path / "kill.py").write_text(
        """
import asyncio, os
async def ask(given):
    await asyncio.sleep(0.5)
    os.kill(os.getpid(), 9)
HANDLERS = {"tool:Desk::ask": ask}
"""
    )
    command("run", "--handlers", "kill.py", "--wait", "main.conc")
    [run] = json.loads(command("runs", "--json").stdout)
    waits = {each["name"]: each["kind"] for each in run["waits_for"]}
    assert waits == {"Desk::ask": "unknown", "Desk::sign": "call"}


SEVERAL = """
fn main() {
    let all = parallel for n in [1, 2, 3] { (await emit("approve", n)).unwrap() };
    println("${all}");
}
"""


def test_all_that_a_run_waits_for_is_told_again(command: Command, tmp_path: Path) -> None:
    """What is answered besides stays as it is if one answer is for nothing."""
    (tmp_path / "several.conc").write_text(SEVERAL)
    program = concerto.compile_file(tmp_path / "several.conc")
    as_a_worker = RunOptions(
        store=f"sqlite:{tmp_path / 'runs.db'}", wait=True, parks=True, output=io.StringIO()
    )
    assert concerto.Runtime(program, as_a_worker, errors=io.StringIO()).run().status == 3
    run = listed(command)[0]["id"]
    effects = [each["effect"] for each in listed(command)[0]["waits_for"]]
    assert len(effects) == 3
    again = command("resume", run)
    assert again.returncode == 3
    assert again.stderr.count("waits for an answer: approve") == 3
    told = again.stderr.splitlines()[-1].split(f"{run} ")[1]
    assert sorted(told.split(" ")[1::2]) == [f"{each}=JSON" for each in effects], told
    for wrong in ("0.3/7", "7/1"):
        refused = command("resume", run, "--answer", f"{effects[0]}=1", "--answer", f"{wrong}=2")
        assert refused.returncode == 2
        assert f"nothing waits for an answer on `{wrong}`; it waits for `{effects[0]}`" in refused.stderr
    one = command("resume", run, "--answer", f"{effects[0]}=1")
    assert (one.returncode, one.stderr.count("waits for an answer: approve")) == (3, 2)
    assert [each["effect"] for each in listed(command)[0]["waits_for"]] == effects[1:]
    answers = [word for each in effects[1:] for word in ("--answer", f"{each}=2")]
    assert ended(command("resume", run, *answers)) == (0, "[1, 2, 2]\n", "")


def test_what_is_exported_is_of_its_user_alone(command: Command, script: Script, tmp_path: Path) -> None:
    script.answer(chat_reply("good day"))
    command("run", "--quiet", "main.conc")
    (tmp_path / "x.conc-run").write_text("another's")
    assert command("runs", "export", listed(command)[0]["id"], "-o", "x.conc-run").returncode == 0
    assert (tmp_path / "x.conc-run").stat().st_mode & 0o777 == 0o600

"""Programs in runs that last: a process that is killed in the middle of one, replays, calls that wait."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.servers import Script, chat_reply

DESK = """
import os, signal
from pathlib import Path
import concerto

CALLS = Path(__file__).parent / "calls.txt"

def note(what: str) -> int:
    with CALLS.open("a") as file:
        file.write(what + "\\n")
    return len(CALLS.read_text().splitlines())

class Desk:
    def post(self, text: str) -> int:
        "Post something"
        return note("post " + text)

    @concerto.tool(read_only=True)
    def look(self) -> str:
        "Look around"
        if note("look") == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return "all is well"
"""
MAIN = """
tool Till {
    description: "The till",
    @describe("Have somebody pay") pub fn pay(@param("How much") amount: Int) -> Result<String, ToolError>;
}
agent Clerk { provider: here, model: "m", tools: [Desk, Till], code: "only" }
connect here { provider: "custom", base_url: "URL" }
fn main() -> Result<Nil, AgentError> {
    println(Clerk.execute("go")?.text);
    Ok(nil)
}
"""
PROGRAM = """
let first = Desk::post("one");
let seen = Desk::look();
parallel for name in ["two", "three"] { Desk::post(name) };
let paid = PAY;
(first, seen, paid)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CONCERTO_STATE", str(tmp_path / "state"))
    (tmp_path / "desk.py").write_text(DESK)
    (tmp_path / "Concerto.toml").write_text('[tools.Desk]\nimport = "desk:Desk"\n')
    return tmp_path


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    told = [sys.executable, "-m", "concerto.cli", *arguments]
    return subprocess.run(told, cwd=folder, capture_output=True, text=True, timeout=120)


def calls(folder: Path) -> list[str]:
    return (folder / "calls.txt").read_text().splitlines()


def test_a_killed_program_goes_on_and_repeats_nothing(project: Path) -> None:
    with Script() as server:
        (project / "main.conc").write_text(MAIN.replace("URL", server.url))
        source = PROGRAM.replace("PAY", "Till::pay(5)?")
        server.answer(chat_reply(None, ("c1", "run_program", json.dumps({"source": source}))))
        server.answer(chat_reply("done"))
        killed = command(project, "run", "--quiet", "main.conc")
        assert killed.returncode == -signal.SIGKILL, killed
        assert calls(project) == ["post one", "look"]
        [run] = json.loads(command(project, "runs", "--json").stdout)
        waiting = command(project, "resume", run["id"])
        assert waiting.returncode == 3, waiting
        assert sorted(calls(project)) == sorted(["post one", "look", "look", "post two", "post three"])
        [asked] = json.loads(command(project, "runs", "--json").stdout)[0]["waits_for"]
        assert (asked["name"], asked["arguments"]) == ("Till::pay", {"amount": 5})
        done = command(project, "resume", run["id"], "--result", f'{asked["call_id"]}="paid"')
        assert (done.returncode, done.stdout) == (0, "done\n"), done
        assert len(calls(project)) == 5 and len(server.seen) == 2
        told = json.loads(server.seen[-1].body["messages"][-1]["content"])
        assert told == {"value": [1, "all is well", "paid"], "printed": ""}
        replayed = command(project, "replay", run["id"])
        assert (replayed.returncode, replayed.stdout) == (0, "done\n"), replayed
        assert len(calls(project)) == 5 and len(server.seen) == 2
        tree = command(project, "runs", "show", run["id"], "--content").stdout
        assert "run_program" in tree and "Desk::look()" in tree

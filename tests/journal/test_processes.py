"""Runs with processes: a replay begins none, and one that begins in the middle hears what was said before."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from concerto import Runtime, compile_file, open_store
from tests.journal.killing import world
from tests.journal.test_idempotency import MCP_SERVER
from tests.runtime.servers import Script, chat_reply

HOST = """
import json, sys
def hear():
    message = json.loads(sys.stdin.readline())
    open("heard", "a").write(message["type"] + "\\n")
    return message
while True:
    prompt = hear()["prompt"]
    print(json.dumps({"type": "question", "id": "1", "payload": prompt}), flush=True)
    answer = hear()["value"]
    print(json.dumps({"type": "result", "text": f"{prompt}: {answer}"}), flush=True)
"""
SOURCE = """
connect here { provider: "custom", base_url: "URL", default_model: "m" }
agent Clerk { provider: here, tools: [keys] }
host Worker { connector: worker }
fn main() -> Result<Nil, Any> {
    println(Clerk.execute("look")?.text);
    let said = listen Worker.execute("go") { "question" => |what: String| { "heard ${what}" }, };
    println(said?.text);
    Ok(nil)
}
"""


def project(folder: Path, url: str) -> None:
    (folder / "server.py").write_text(MCP_SERVER)
    (folder / "host.py").write_text(HOST)
    (folder / "Concerto.toml").write_text(
        f'[mcp.keys]\ntransport = "stdio"\ncommand = {json.dumps(sys.executable)}\nargs = ["server.py"]\n'
        f'[hosts.worker]\ncommand = "{sys.executable}"\nargs = ["host.py"]\n'
    )
    (folder / "main.conc").write_text(SOURCE.replace("URL", url))


def test_a_replay_begins_no_process_and_a_fork_begins_it_from_the_start(tmp_path: Path) -> None:
    with Script() as script:
        project(tmp_path, script.url)
        program = compile_file(tmp_path / "main.conc")
        script.answer(chat_reply(None, ("a", "keys__look", "{}")), chat_reply("seen"))
        output, errors = io.StringIO(), io.StringIO()
        store = open_store(tmp_path / "runs.db")
        result = Runtime(
            program, store=store, record=tmp_path / "x.conc-run", output=output, errors=errors
        ).run()
    assert result.ok, errors.getvalue()
    assert output.getvalue() == "seen\ngo: heard go\n"
    heard = tmp_path / "heard"
    assert heard.read_text() == "execute\nresponse\n"
    heard.unlink()
    for name in ("server.py", "host.py"):
        (tmp_path / name).rename(tmp_path / f"{name}.gone")
    again = io.StringIO()
    shown = Runtime(program, replay=tmp_path / "x.conc-run", output=again, errors=again).run()
    assert (shown.status, again.getvalue()) == (0, output.getvalue())
    assert not heard.exists()
    (tmp_path / "host.py.gone").rename(tmp_path / "host.py")
    last = [row.key for row in store.effects(result.run_id) if row.kind == "HostTurn"][-1]
    forked = io.StringIO()
    assert store.fork(result.run_id, at=last, output=forked, errors=forked).ok, forked.getvalue()
    assert forked.getvalue() == output.getvalue()
    assert heard.read_text() == "execute\nresponse\n"


def test_a_run_that_is_interrupted_says_how_it_goes_on(tmp_path: Path) -> None:
    with world() as made:
        (tmp_path / "Concerto.toml").write_text('[permissions]\nhttp = ["127.0.0.1"]\n')
        (tmp_path / "main.conc").write_text(
            "use std::tools::HttpTool; use std::time;\n"
            f'fn main() {{ HttpTool.get("{made.url}/read/1").unwrap(); time::sleep(60000); }}\n'
        )
        command = [sys.executable, "-m", "concerto.cli", "run", "main.conc", "--store", "sqlite:runs.db"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
        while not made.asked["/read/1"]:
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=240)
        store = open_store(tmp_path / "runs.db")
        [run] = store.runs()
        store.close()
    assert process.returncode == 130
    assert f"resume with: concerto resume {run.id}\n" in err
    assert run.status == "interrupted"

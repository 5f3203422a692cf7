"""Ctrl-C: all work stops at once, whatever it is, with one line and status 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.servers import Answer, Script, chat_reply

AGENT = """
use std::time;
connect here {{ provider: "custom", base_url: "{url}", default_model: "m" }}
agent Assistant {{ provider: here, tools: [Nap] }}
tool Nap {{
    description: "Naps",
    @describe("Nap")
    pub fn nap(self) -> String {{ println("napping"); time::sleep(60000); "slept" }}
    @describe("Spin")
    pub fn spin(self) -> Int {{ println("spinning"); let mut n = 0; loop {{ n = (n + 1) % 1000; }} }}
}}
fn main() {{ println("begin"); Assistant.execute("go").unwrap(); println("never"); }}
"""


@pytest.mark.parametrize("kind", ["model", "tool", "loop"])
def test_work_of_every_kind_is_interrupted(tmp_path: Path, script: Script, kind: str) -> None:
    match kind:
        case "model":
            script.answer(Answer(chat_reply("late"), hang=20))
            sign = "begin"
        case "tool":
            script.answer(chat_reply(None, ("1", "Nap__nap", "{}"), ("2", "Nap__nap", "{}")))
            sign = "napping"
        case _:
            script.answer(chat_reply(None, ("1", "Nap__spin", "{}")))
            sign = "spinning"
    program = tmp_path / "main.conc"
    program.write_text(AGENT.format(url=script.url))
    with subprocess.Popen(
        [sys.executable, "-m", "concerto.cli", "run", "--quiet", str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        interrupted_after(process, sign)


def interrupted_after(process: subprocess.Popen[str], sign: str) -> None:
    """Interrupt a run that has printed a line, and see it end."""
    assert process.stdout is not None
    lines = []
    while sign not in lines:
        line = process.stdout.readline()
        assert line, process.communicate()
        lines.append(line.strip())
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (130, "error: interrupted\n")
    assert "never" not in out
    assert time.monotonic() - begun < 3

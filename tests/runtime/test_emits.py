"""Emits: who answers an awaited one, and when what was said can be seen."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys
import time
from http import HTTPMethod, HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from tests.harness import commands
from tests.runtime.running import make_runtime, run_program

ASK = """
fn main() {
    for n in 0..2 {
        match await emit("approval", {"amount": n}) {
            Ok(answer) => println("answer ${answer}"),
            Err(error) => println("${error.kind} on ${error.channel}: ${error.message}"),
        }
    }
}
"""


def answers(handler: Any, capsys: pytest.CaptureFixture[str]) -> list[str]:
    outcome = run_program(ASK, capsys, handlers={"approval": handler})
    assert outcome.status == 0, outcome.err
    return [line for line in outcome.lines if not line.startswith("[emit:")]


def test_plain_and_async_handlers_answer(capsys: pytest.CaptureFixture[str]) -> None:
    async def later(payload: Any) -> Any:
        await asyncio.sleep(0)
        return {"ok": payload["amount"] > 0, "by": ["ann"]}

    assert answers(lambda payload: payload["amount"] + 1, capsys) == ["answer 1", "answer 2"]
    assert answers(lambda payload: (HTTPStatus.OK, HTTPMethod.GET), capsys) == ['answer [200, "GET"]'] * 2
    assert answers(later, capsys) == [
        'answer {"ok": false, "by": ["ann"]}',
        'answer {"ok": true, "by": ["ann"]}',
    ]


class Escaped(BaseException):
    pass


LEAVING: dict[str, tuple[BaseException, str]] = {
    "sys.exit": (SystemExit(3), "it called `sys.exit(3)`"),
    "Ctrl-C's exception": (KeyboardInterrupt(), "KeyboardInterrupt"),
    "a cancelled future": (asyncio.CancelledError(), "CancelledError"),
    "the end of a generator": (GeneratorExit(), "GeneratorExit"),
    "an exception of its own": (Escaped("gone"), "gone"),
}


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("name", LEAVING)
def test_no_handler_ends_the_run(name: str, waits: bool, capsys: pytest.CaptureFixture[str]) -> None:
    error, said = LEAVING[name]

    def leaves(payload: Any) -> Any:
        raise error

    async def leaves_later(payload: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    lines = answers(leaves_later if waits else leaves, capsys)
    assert lines == [f"HandlerFailed on approval: the handler of `approval` failed: {said}"] * 2


@pytest.mark.parametrize("options", [{}, {"json": True}, {"echo": False}], ids=str)
def test_what_has_no_json_form_is_emitted_to_nobody(options: Any, capsys: pytest.CaptureFixture[str]) -> None:
    source = 'fn main() {\n    emit("a", 1);\n    emit("b", {"f": |x: Int| x});\n}'
    result = make_runtime(source, **{"echo": True, **options}).run()
    out, err = capsys.readouterr()
    assert (result.status, result.error) == (1, "a value of type fn has no JSON form")
    assert "main.conc:3:5" in err or "<source>:3:5" in err
    assert len(out.splitlines()) == options.get("echo", True)


def test_halves_of_characters_are_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    """In values and keys, as in everything that JSON, file names and the environment may hold."""

    def half(payload: Any) -> Any:
        return {"a\ud800": ["\udfffb"], True: None, None: 1.5}

    def fails(payload: Any) -> Any:
        raise ValueError("odd \udcff")

    assert answers(half, capsys)[0] == 'answer {"a\ufffd": ["\ufffdb"], "true": nil, "null": 1.5}'
    assert answers(fails, capsys)[0].endswith("failed: odd \ufffd")


def test_what_goes_wrong_with_an_answer_is_an_emit_error(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(payload: Any) -> Any:
        raise KeyError("nobody")

    async def waits(payload: Any) -> Any:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)

    def says_nothing(payload: Any) -> Any:
        raise ValueError

    said = "HandlerFailed on approval: the handler of `approval` failed: ValueError"
    assert answers(says_nothing, capsys)[0] == said
    said = "HandlerFailed on approval: the handler of `approval` failed: 'nobody'"
    assert answers(fails, capsys)[0] == said
    assert answers(waits, capsys)[0] == "Timeout on approval: `approval` took too long"
    assert "answered with a `object`" in answers(lambda payload: object(), capsys)[0]
    outcome = run_program(ASK, capsys)
    assert outcome.lines[1] == "NoListener on approval: nobody answers `approval`"


def test_an_answer_that_does_not_come_is_waited_for_as_long_as_the_manifest_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ended = []

    async def never(payload: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(payload["amount"])

    outcome = run_program(
        ASK, capsys, handlers={"approval": never}, manifest={"runtime": {"emit_timeout": 0.01}}
    )
    said = "Timeout on approval: `approval` was not answered within 0.01 seconds"
    assert (outcome.status, outcome.lines.count(said)) == (0, 2)
    assert ended == [0, 1]


def test_a_decorated_function_answers_and_the_last_one_wins() -> None:
    runtime = make_runtime(ASK, handlers={"approval": lambda payload: "first"})
    seen: list[Any] = []
    runtime.on("approval", seen.append)

    @runtime.on_emit("approval")
    async def answer(payload: Any) -> str:
        return "second"

    assert runtime.run().status == 0
    assert seen == [{"amount": 0}, {"amount": 1}]


def test_emits_of_a_schema_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    source = """
    schema Order { id: Int, note?: String }
    fn main() {
        emit<Order>("order", Order { id: 1, note: Some("soon") });
        let answer = await emit<Order>("order", Order { id: 2, note: None });
        println(answer.unwrap());
    }
    """
    seen: list[Any] = []

    def note(payload: Any) -> Any:
        seen.append(payload)
        return "noted"

    outcome = run_program(source, capsys, handlers={"order": note})
    assert outcome.lines[-1] == "noted"
    assert seen == [{"id": 2, "note": None}]


def run_command(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "main.conc").write_text(ASK)
    return commands.run("concerto", "run", *options, "main.conc", cwd=tmp_path)


def test_answers_on_the_command_line(tmp_path: Path) -> None:
    done = run_command(tmp_path, "--answer", "approval=true", "--answer", 'approval={"a": "b=c"}')
    assert done.stdout.splitlines()[1::2] == ["answer true", 'answer {"a": "b=c"}']
    done = run_command(tmp_path, "--answer", 'approval="yes"')
    assert done.stdout.splitlines()[1::2] == ["answer yes", "answer yes"]
    done = run_command(tmp_path)
    assert done.stdout.splitlines()[1].startswith("NoListener")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("approval", "expected `CHANNEL=JSON`"),
        ("=1", "expected `CHANNEL=JSON`"),
        ("approval=yes", '`yes` is no JSON; a text is written `approval="yes"`'),
    ],
)
def test_a_bad_answer_is_one_line(tmp_path: Path, answer: str, said: str) -> None:
    done = run_command(tmp_path, "--answer", answer)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, folder: Path, source: str) -> None:
        (folder / "main.conc").write_text(source)
        self._ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "concerto.cli", "run", "main.conc"]
        self.process = subprocess.Popen(command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self._seen = ""

    def wait_for(self, text: str) -> None:
        """Read until the screen shows a text, and forget what came up to it."""
        deadline = time.monotonic() + 120
        while text not in self._seen:
            assert time.monotonic() < deadline, self._seen
            if select.select([self._ours], [], [], 1)[0]:
                self._seen += os.read(self._ours, 4096).decode()
        self._seen = self._seen.partition(text)[2]

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        status = self.process.wait(120)
        os.close(self._ours)
        return status


def test_the_person_at_the_terminal_is_asked(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, ASK)
    terminal.wait_for("answer to `approval`")
    terminal.type('{"ok": true}\n')
    terminal.wait_for('answer {"ok": true}')
    terminal.wait_for("answer to `approval`")
    terminal.type("why not\n")
    terminal.wait_for("is no JSON")
    terminal.type("\n")
    terminal.wait_for("answer why not")
    assert terminal.end() == 0


def test_ctrl_d_is_no_answer_and_ctrl_c_ends_the_run(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, ASK)
    terminal.wait_for("answer to `approval`")
    terminal.type("\x04")
    terminal.wait_for("NoListener on approval: nobody answered `approval`")
    terminal.wait_for("answer to `approval`")
    terminal.process.send_signal(2)
    terminal.wait_for("interrupted")
    assert terminal.end() == 130


def test_what_was_said_is_seen_before_the_program_waits(tmp_path: Path) -> None:
    source = 'use std::time;\nfn main() { println("one"); emit("two", 2); time::sleep(60000); }'
    (tmp_path / "main.conc").write_text(source)
    command = [sys.executable, "-m", "concerto.cli", "run", "main.conc"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert [process.stdout.readline(), process.stdout.readline()] == ["one\n", "[emit:two] 2\n"]
    process.kill()
    process.wait(timeout=120)
    process.stdout.close()

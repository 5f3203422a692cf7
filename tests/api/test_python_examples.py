"""The Python programs beside `examples/from_python` run as their docstrings say."""

from __future__ import annotations

import asyncio
import io
import json
import runpy
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

FOLDER = Path(__file__).parents[2] / "examples" / "from_python"

SAID = {
    "cells": (
        "Answer(variant='Answer', value='[mock response to: How are you?]')\n"
        "<Urgency.High: 'High'>\nTrue 0 0.0\n"
    ),
    "pool": "50 of 200 are urgent\n",
    "gather": "200 [mock response to: question 199]\n",
    "own_tools": ("Ada [mock response to: Where is my order?]\nBob [mock response to: Where is my order?]\n"),
    "cleaning": (
        "line 3: NoName(variant='NoName')\n"
        "line 4: BadMail(variant='BadMail', value='bob at example')\n"
        '{"name":"Ada","mail":"ada@example.com","phone":"4930123"}\n'
        "{'NoName': 1, 'BadMail': 1}\n"
    ),
    "interop": (
        '{"mail":{"subject":"urgent","body":"Help"},'
        '"actions":[{"variant":"Forward","to":"duty@example.com","urgency":"High"}]}\n'
        "True\n['Answer', 'Forward', 'Ignore', 'Mail', 'Urgency']\n"
        "[(('mail', 'subject'), 'missing'), (('mail', 'subjet'), 'extra_forbidden')]\n"
        "Counted(mail=Mail(subject='urgent', body='Help'), words=1)\n"
    ),
    "printing": "[mock response to: Tell me]\n(0 tokens)\n",
    "kinds": (
        "empty: Empty main.conc:35:9\ntoo long: 300\nMissingKey\n"
        "`triage` takes a `Mail` as `mail`: expected `String`, found `int` at `subject`\n"
    ),
}


@pytest.mark.parametrize("name", sorted(SAID))
def test_scripts(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capfd.readouterr() == (SAID[name], "")


def test_the_conversation(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hello\nWho?\n"))
    runpy.run_path(str(FOLDER / "conversation.py"), run_name="__main__")
    assert capfd.readouterr().out == "[mock response to: Hello]\n[mock response to: Who?]\n5 messages\n"


def test_the_processes() -> None:
    command = [sys.executable, "processes.py"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "[True, False]\n", done.stderr


def test_the_command() -> None:
    from click.testing import CliRunner

    main = runpy.run_path(str(FOLDER / "command.py"))["main"]
    done = CliRunner().invoke(main, ["urgent: help"])
    assert (done.exit_code, done.output) == (0, "High\n")
    failed = CliRunner().invoke(main, [""])
    assert failed.exit_code == 1
    assert failed.output.startswith("Error: Empty at ") and failed.output.endswith("main.conc:35:9\n")


def test_the_fixture() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "addopts=",
        "test_mails.py",
    ]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that a server serves."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    ready = threading.Event()
    started = server.startup

    async def startup(*given: Any, **named: Any) -> None:
        await started(*given, **named)
        ready.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(240)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(120)
        assert not thread.is_alive()


def posted(address: str, path: str, data: Any) -> Any:
    request = urllib.request.Request(
        f"http://{address}{path}", json.dumps(data).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def test_the_web_handler() -> None:
    with served(runpy.run_path(str(FOLDER / "web.py"))["app"]) as address:
        assert posted(address, "/decide", {"subject": "Hi", "body": "Well?"}) == {
            "variant": "Answer",
            "value": "[mock response to: Well?]",
        }


def test_the_dependency() -> None:
    pytest.importorskip("fastapi")
    with served(runpy.run_path(str(FOLDER / "dependency.py"))["app"]) as address:
        assert posted(address, "/triage", {"subject": "urgent"}) == {"urgency": "High"}
        assert posted(address, "/decide", {"subject": "Hi"}) == {"variant": "Ignore"}
        with pytest.raises(urllib.error.HTTPError) as raised:
            posted(address, "/triage", {"subject": ""})
        assert (raised.value.code, json.load(raised.value)) == (422, {"detail": "Empty"})
        raised.value.close()


def test_the_websocket() -> None:
    websockets = pytest.importorskip("websockets")

    async def ask(address: str) -> str:
        async with websockets.connect(f"ws://{address}/answer") as socket:
            await socket.send(json.dumps({"subject": "Hi", "body": "Tell me"}))
            return "".join([text async for text in socket])

    with served(runpy.run_path(str(FOLDER / "websocket.py"))["app"]) as address:
        assert asyncio.run(ask(address)) == "[mock response to: Tell me]"

"""The real servers that the tests talk to, and where they are found.

Those in Python come with the `dev` extra. Those of npm stand in `tests/package.json`, and are looked for in
the folder that CONCERTO_PEERS names (`.ci/run` puts them there) and on the PATH; a test that needs one which
is not installed is skipped and says so.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from tests.runtime.servers import free_port

_NODE_PACKAGES = Path(__file__).parents[1] / "package.json"
_SCRIPTED = Path(__file__).with_name("scripted_server.py")


def scripted(mode: str = "well", mark: str = "concerto-test") -> str:
    """The command of the server that misbehaves on demand."""
    return f"'{sys.executable}' -I -S '{_SCRIPTED}' {mode} {mark}"


def python_server(name: str) -> str:
    """The command of a server from PyPI."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: pip install -e '.[dev]'")
    return found


def node_folder() -> Path:
    """Where the packages of npm are installed."""
    return Path(os.environ.get("CONCERTO_PEERS") or user_cache_path("concerto-peers")) / "node_modules"


def node_program(name: str) -> str:
    """The command of a server or a client from npm."""
    beside = node_folder() / ".bin" / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None or shutil.which("node") is None:
        where = node_folder().parent
        install = f"mkdir -p {where} && cp {_NODE_PACKAGES} {where} && npm install --prefix {where}"
        pytest.skip(f"{name} is not installed: {install}")
    return found


@contextmanager
def everything_at(transport: str) -> Iterator[str]:
    """The address of a server-everything over `streamableHttp` or `sse`."""
    command = node_program("mcp-server-everything")
    port = free_port()
    environment = {**os.environ, "PORT": str(port)}
    process = subprocess.Popen(
        [command, transport], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/{'sse' if transport == 'sse' else 'mcp'}"
    finally:
        process.kill()
        process.wait(240)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)


def all_end(mark: str) -> bool:
    """Whether the processes that have a word on their command line end soon: one that was killed, and not
    waited for, is there until the system takes its turn."""
    deadline = time.monotonic() + 120
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_with(mark)


def processes_with(mark: str) -> list[int]:
    """The processes that have a word on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0") if folder.name.isdecimal() else []
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(folder.name))
    return found

"""The examples with MCP servers work under `concerto run`, with nothing but their servers installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.mcp import peers

EXAMPLES = Path(__file__).parents[2] / "examples"


def said(example: str, server: str) -> list[str]:
    environment = {**os.environ, "PATH": f"{Path(server).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "concerto.cli", "run", "--quiet", str(EXAMPLES / example)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_the_time() -> None:
    assert said("mcp_time", peers.python_server("mcp-server-time")) == [
        "09:00 in Tokyo is 05:30 in Kolkata",
        "the difference is -3.5h",
        "asked for the time in 2 zones",
        "Atlantis: ToolFailed",
    ]


def test_everything() -> None:
    assert said("mcp_everything", peers.node_program("mcp-server-everything")) == [
        "Echo: hello",
        "The sum of 2 and 40 is 42.",
        "the humidity of Chicago is known: true",
        "a picture: image/png",
        "[mock response to: What can you do?]",
    ]

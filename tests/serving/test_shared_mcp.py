"""MCP servers behind `concerto serve`: one for all requests where the manifest shares it."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import httpx2

from tests.mcp.peers import processes_with, scripted
from tests.runtime.servers import Script
from tests.serving.servers import project, served

PROGRAM = """
mcp Shared { @describe("Who") fn pid() -> Result<String, ToolError>; }
mcp Own { @describe("Who") fn pid() -> Result<String, ToolError>; }
agent Asker { provider: local, model: "m", tools: [Shared, Own] }
"""


def test_requests_share_a_server_that_may_be(model: Script, tmp_path: Path) -> None:
    mark = f"mark-{tmp_path.name}-{os.getpid()}"
    more = f"""
[mcp.Shared]
command = {scripted("well", mark)!r}
share = true

[mcp.Own]
command = {scripted("well", mark)!r}
"""
    with served(project(tmp_path / "p", model.url, PROGRAM, more)) as server:

        def pid_of(name: str) -> int:
            """Of the server that answers; 0 if it fails, as one may whose end was not seen yet."""
            body = {"input": f"call {name}__pid {{}}", "store": False}
            answer = httpx2.post(f"{server.url}/v1/responses", json=body, timeout=120).json()
            answers.append(answer)
            # A run that fails, as its server lists no tools, has no output.
            said = [part["text"] for each in answer["output"][-1:] for part in each["content"]]
            found = re.fullmatch(r'given "?(\d+)"?', "".join(said))
            return 0 if found is None else int(found[1])

        answers: list[object] = []
        shared, own = pid_of("Shared"), pid_of("Own")
        assert shared and own, f"{answers}"
        assert pid_of("Shared") == shared != own
        assert pid_of("Own") not in (own, shared)
        os.kill(shared, signal.SIGKILL)
        again = next(pid for _ in range(100) if (pid := pid_of("Shared")) not in (0, shared))
        assert pid_of("Shared") == again
        assert processes_with(mark) == [again]
        status, _ = server.stop()
        assert status == 0
    assert processes_with(mark) == []

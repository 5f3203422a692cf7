"""Who is served: callers with tokens, or this machine alone."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.runtime.servers import Script
from tests.serving.servers import Served, project, served

TOKENS = '[serve]\ntokens_env = "SERVE_TOKENS"\n'


def get(url: str, token: str = "") -> httpx2.Response:
    return httpx2.get(url, headers={"authorization": f"Bearer {token}"} if token else {})


def test_each_token_is_a_caller(tmp_path: Path, model: Script) -> None:
    folder = project(tmp_path, model.url, more=TOKENS)
    with served(folder, environment={"SERVE_TOKENS": "alpha, beta"}) as server:
        assert get(f"{server.url}/healthz").status_code == 200
        for token in ("gamma", "alph", "alphaa", "ä"):
            refused = httpx2.get(
                f"{server.url}/v1/models", headers={b"authorization": f"Bearer {token}".encode()}
            )
            assert refused.status_code == 401
            assert refused.json()["error"]["code"] == "invalid_token"
        assert get(f"{server.url}/v1/models").status_code == 401
        for place in ("nowhere", "health", "readyz", "metrics", "openapi.json", "mcp", "runs/0123", ""):
            assert get(f"{server.url}/{place}").status_code == 401
        with pytest.raises(InvalidStatus) as denied:
            connect(server.url.replace("http", "ws") + "/v1/responses")
        assert denied.value.response.status_code == 401
        body: Any = {"model": "Plain", "input": "say mine"}
        mine = httpx2.post(
            f"{server.url}/v1/responses", json=body, headers={"authorization": "Bearer alpha"}
        ).json()
        url = f"{server.url}/v1/responses/{mine['id']}"
        assert get(url, "alpha").json() == mine
        assert get(url, "beta").status_code == 404
        body["previous_response_id"] = mine["id"]
        gone_on = httpx2.post(
            f"{server.url}/v1/responses", json=body, headers={"authorization": "Bearer beta"}
        )
        assert gone_on.status_code == 404
        assert server.stop()[1] == ""


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:80"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "localhost:1"}, 200),
        ({}, 200),
    ],
)
def test_without_tokens_only_this_machine(server: Served, headers: dict[str, str], status: int) -> None:
    answer = httpx2.get(f"{server.url}/v1/models", headers=headers)
    assert answer.status_code == status
    own = httpx2.get(f"{server.url}/v1/models", headers={"origin": server.url})
    assert own.status_code == 200


def refused(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "concerto.cli", "serve", str(folder / "main.conc"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_cannot_be_served(tmp_path: Path) -> None:
    folder = project(tmp_path, "http://127.0.0.1:9")
    assert "tokens_env" in refused(folder, "--host", "0.0.0.0")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert (
            refused(folder, "--port", port)
            == f"error: cannot listen at 127.0.0.1:{port}: address already in use\n"
        )
    (folder / "main.conc").write_text("agent A { }")
    assert "E0410" in refused(folder)
    project(tmp_path / "tokens", "http://127.0.0.1:9", more=TOKENS)
    assert "has no tokens" in refused(tmp_path / "tokens")

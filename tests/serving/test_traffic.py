"""How many requests a server takes and for how long, what it counts and logs of them, and MCP beside the
other fronts."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client

from concerto.serving.server import listen
from tests.runtime.conftest import script as script
from tests.runtime.servers import Answer, Script, Seen, chat_reply
from tests.serving.servers import Served, project, served

LIMITED = '[serve]\nconcurrent_requests = 2\nrequest_timeout = 2.5\nlog = "json"\n'


@pytest.fixture
def folder(model: Script, tmp_path: Path) -> Path:
    return project(tmp_path / "limited", model.url, more=LIMITED)


@pytest.fixture
def limited(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


def ask(server: Served, text: str) -> httpx2.Response:
    return httpx2.post(
        f"{server.url}/v1/responses", json={"model": "Plain", "input": text, "store": False}, timeout=120
    )


def test_limits_counts_and_logs(limited: Served) -> None:
    slow = ask(limited, "wait 60")
    assert (slow.status_code, slow.json()["error"]["code"]) == (504, "timeout")
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: ask(limited, "wait 60"), range(6)))
    busy = [answer for answer in answers if answer.status_code == 503]
    assert 1 <= len(busy) <= 4
    assert {answer.status_code for answer in answers} <= {200, 503, 504}
    assert busy[0].json()["error"]["code"] == "overloaded"
    assert busy[0].headers["retry-after"] == "1"
    assert ask(limited, "say a").status_code == 200
    httpx2.get(f"{limited.url}/v1/responses/resp_1")
    metrics = httpx2.get(f"{limited.url}/metrics").text
    assert 'requests_total{method="POST",path="/v1/responses",status="504"} ' in metrics
    assert 'requests_total{method="GET",path="/v1/responses/{id}",status="404"} 1' in metrics
    assert "requests_under_way 1" in metrics
    assert f'requests_total{{method="POST",path="other",status="503"}} {len(busy)}' in metrics
    assert f'request_seconds_bucket{{path="/v1/responses",le="+Inf"}} {8 - len(busy)}' in metrics
    body = {"model": "Plain", "input": "wait 60", "stream": True}
    with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
        httpx2.post(f"{limited.url}/v1/responses", json=body, timeout=120)
    status, said = limited.stop()
    assert status == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert not any("trace" in line for line in lines)
    asked = [line for line in lines if line.get("path") == "/v1/responses"]
    assert len(asked) == 9
    assert asked[0].keys() == {"time", "level", "method", "path", "status", "ms", "caller", "client"}
    assert asked[0]["status"] == 504 and asked[0]["ms"] >= 2500


def test_what_is_written_goes_out_at_once() -> None:
    async def delays() -> int:
        accepted = asyncio.get_running_loop().create_future()

        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            end = writer.get_extra_info("socket")
            accepted.set_result(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = listen("127.0.0.1", 0)
        async with await asyncio.start_server(take, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            found: int = await accepted
            writer.close()
        return found

    assert asyncio.run(delays()) != 0


def test_a_connection_outlives_the_patience_of_clients(server: Served) -> None:
    """Who keeps connections for the usual 5 s does not send on one that is just being closed."""
    address = urlsplit(server.url)
    with closing(HTTPConnection(address.hostname or "", address.port)) as client:
        for pause in (0, 5.5):
            time.sleep(pause)
            client.request("GET", "/healthz")
            with client.getresponse() as answer:
                assert (answer.status, bool(answer.read())) == (200, True)
            client.auto_open = 0


def test_a_client_that_leaves_before_its_body_is_no_fault(limited: Served) -> None:
    host, port = limited.url.removeprefix("http://").split(":")
    for _ in range(2):
        with socket.create_connection((host, int(port)), timeout=60) as client:
            head = f"POST /v1/responses HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n{{"
            client.sendall(head.encode())
    deadline = time.monotonic() + 120
    while 'status="499"} 2' not in httpx2.get(f"{limited.url}/metrics").text:
        assert time.monotonic() < deadline
    status, said = limited.stop()
    assert status == 0
    assert [line for line in said.splitlines() if "path" not in json.loads(line)] == []


def test_mcp_beside_the_other_fronts(server: Served) -> None:
    async def talk() -> tuple[list[str], Any]:
        async with Client(f"{server.url}/mcp") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            return names, (await client.call_tool(names[0], {"a": 1, "b": 2})).structured_content

    names, result = asyncio.run(talk())
    assert "add" in names
    assert result == {"result": 3}
    refused = httpx2.post(f"{server.url}/mcp", json={}, headers={"origin": "https://evil.example"})
    assert refused.status_code == 403


def test_what_a_connection_bears_holds_over_all_requests(script: Script, tmp_path: Path) -> None:
    under_way, most, lock = 0, 0, threading.Lock()
    two = threading.Barrier(2)

    def answer(seen: Seen) -> Answer:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        two.wait(120)
        time.sleep(0.1)
        with lock:
            under_way -= 1
        return Answer(chat_reply("ok"))

    script.answer(answer)
    folder = project(tmp_path / "bears", script.url)
    settings = (folder / "Concerto.toml").read_text()
    told = settings.replace('"MODEL_KEY"', '"MODEL_KEY"\nrate_limit = { concurrent_requests = 2 }', 1)
    (folder / "Concerto.toml").write_text(told)
    with served(folder) as running, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: ask(running, "say a"), range(16)))
    assert {each.status_code for each in answers} == {200}
    assert most == 2

"""The older transport of HTTP, whose answers come in one stream beside the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from queue import Queue

import pytest

from concerto.json_data import Json
from tests.runtime.running import Outcome
from tests.runtime.servers import QuietServer

_RESULTS: dict[str, Json] = {
    "initialize": {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "old", "version": "1"},
    },
    "tools/list": {
        "tools": [
            {"name": name, "inputSchema": {"type": "object"}} for name in ("good", "refused", "dropped")
        ]
    },
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}


@contextmanager
def _server(called: list[str]) -> Iterator[str]:
    """Its URL; calls of `refused` are answered 500, those of `dropped` not at all."""
    streams: list[Queue[Json]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            messages: Queue[Json] = Queue()
            streams.append(messages)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self._say("endpoint", "/messages")
            while (message := messages.get()) is not None:
                self._say("message", json.dumps(message))

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            tool = (message.get("params") or {}).get("name", "")
            called.extend([tool] if message["method"] == "tools/call" else [])
            if tool == "dropped":
                return
            self.send_response(500 if tool == "refused" else 202)
            self.end_headers()
            if tool != "refused" and message["method"] in _RESULTS:
                streams[-1].put(
                    {"jsonrpc": "2.0", "id": message["id"], "result": _RESULTS[message["method"]]}
                )

        def _say(self, event: str, data: str) -> None:
            self.wfile.write(f"event: {event}\ndata: {data}\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = QuietServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sse"
    finally:
        for each in streams:
            each.put(None)
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ("refused", "it answered 500 Internal Server Error"),
        ("dropped", "Server disconnected without sending a response."),
    ],
)
def test_a_call_that_the_server_does_not_take_fails_at_once(
    run: Callable[..., Outcome], tool: str, why: str
) -> None:
    """And the next one is asked in a new session: the client sends no more in this one."""
    called: list[str] = []
    with _server(called) as url:
        source = f"""
        mcp Old {{
            transport: "sse", url: "{url}", timeout: 600,
            @describe("x") fn {tool}() -> Result<String, ToolError>;
            @describe("x") fn good() -> Result<String, ToolError>;
        }}
        fn main() {{
            println(Old.{tool}().err().unwrap().message);
            println(Old.good());
        }}
        """
        assert run(source).lines == [
            f"mcp server `Old` ended during `{tool}` ({why}); whether the call was carried out is unknown",
            'Ok("done")',
        ]
    assert called == [tool, "good"]

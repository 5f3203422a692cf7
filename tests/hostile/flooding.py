"""Peers that answer with far more than anybody wants: `flooding.py MCP` is a server of MCP over stdio, `HOST`
a host; `Flood` is one over HTTP, for models, programs and MCP. Standard library only."""

from __future__ import annotations

import json
import queue
import sys
import threading
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = Any

MEGABYTE = 1024 * 1024
MEGABYTES = 600
_INFO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "flood", "version": "1"},
}
_TOOL = {"name": "flood", "description": "x", "inputSchema": {"type": "object"}}


def megabytes(piece: bytes) -> Iterator[bytes]:
    """A piece, again and again."""
    for _ in range(MEGABYTES):
        yield piece * (MEGABYTE // len(piece))


def packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def text(head: bytes) -> Iterator[bytes]:
    """A beginning of JSON, and a string that goes on and on."""
    yield head
    yield from megabytes(b"x" * 1024)


def answered(message: Json) -> Json:
    """What a server of MCP says to the messages before the call."""
    result = _INFO if message["method"] == "initialize" else {"tools": [_TOOL]}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


class Flood(ThreadingHTTPServer):
    """The path says what comes: `/plain`, `/gzip`, `/values`, `/line`, `/events`, `/comments`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.pushed: queue.Queue[Iterator[bytes]] = queue.Queue()

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever has enough hangs up."""

    def __enter__(self) -> Flood:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Flood

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        message = json.loads(body) if body else {}
        if self.path.startswith(("/mcp", "/sse")):
            self._mcp(message)
        else:
            self._flood(self.path)

    def do_GET(self) -> None:
        if self.path == "/sse":
            self._send({"content-type": "text/event-stream"}, self._pushed())
        elif self.path.startswith("/mcp"):
            self.send_error(405)
        else:
            self._flood(self.path)

    def do_DELETE(self) -> None:
        self._send({}, iter(()))

    def _mcp(self, message: Json) -> None:
        if "id" not in message:
            self._send({}, iter(()), 202)
            return
        head = f'{{"jsonrpc": "2.0", "id": {message["id"]}, "result": {{"content": [{{"text": "'.encode()
        call = message["method"] == "tools/call"
        if self.path == "/sse":
            event = json.dumps(answered(message)).encode() if not call else b""
            self.server.pushed.put(text(b"data: " + head) if call else iter([b"data: ", event, b"\n\n"]))
            self._send({}, iter(()), 202)
        elif not call:
            said = json.dumps(answered(message)).encode()
            self._send({"content-type": "application/json"}, iter([said]))
        elif "events" in self.path:
            self._send({"content-type": "text/event-stream"}, text(b"data: " + head))
        elif "gzip" in self.path:
            headers = {"content-type": "application/json", "content-encoding": "gzip"}
            self._send(headers, packed(text(head)))
        else:
            self._send({"content-type": "application/json"}, text(head))

    def _pushed(self) -> Iterator[bytes]:
        yield b"event: endpoint\ndata: /sse\n\n"
        while True:
            yield from self.server.pushed.get()

    def _flood(self, path: str) -> None:
        if "gzip" in path:
            self._send({"content-encoding": "gzip"}, packed(text(b'{"x": "')))
        elif "values" in path:
            self._send({}, iter([b'{"x": [', b"[]," * (5 * MEGABYTE), b"1]}"]))
        elif "line" in path:
            self._send({}, text(b'data: {"x": "'))
        elif "events" in path:
            self._send({}, megabytes(b'data: {"choices": []}\n\n'))
        elif "comments" in path:
            self._send({}, megabytes(b": still there\n"))
        else:
            self._send({}, text(b'{"x": "'))

    def _send(self, headers: dict[str, str], pieces: Iterator[bytes], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in pieces:
            self.wfile.write(piece)

    def log_message(self, *_: object) -> None:
        pass


def main(kind: str) -> None:
    for line in sys.stdin.buffer:
        message = json.loads(line)
        head = b'{"type": "result", "text": "'
        if kind == "MCP":
            if "id" not in message:
                continue
            if message["method"] != "tools/call":
                print(json.dumps(answered(message)), flush=True)
                continue
            head = f'{{"jsonrpc": "2.0", "id": {message["id"]}, "result": {{"content": [{{"text": "'.encode()
        for piece in text(head):
            sys.stdout.buffer.write(piece)
        print('"}', flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

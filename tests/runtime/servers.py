"""Model servers for the tests: a real one in a process of its own, and one that says exactly what it is
told."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from urllib.request import Request, urlopen

from concerto.json_data import Json

_BASES = {
    "openai": "/v1",
    "openai-responses": "/v1",
    "anthropic": "/anthropic",
    "google": "/gemini",
}


class ModelServer:
    """An llmock server; its answers and faults are queued over its own HTTP interface."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def connection(self, provider: str) -> dict[str, Json]:
        """A connection of the manifest that leads here."""
        return {"provider": provider, "base_url": self.url + _BASES[provider]}

    def reply(self, text: str) -> None:
        self.queue({"type": "reply", "text": text})

    def call(self, name: str, arguments: Json) -> None:
        self.queue({"type": "reply", "tool_calls": [{"name": name, "arguments": arguments}]})

    def calls(self, *calls: tuple[str, Json]) -> None:
        """Several calls in one answer."""
        asked = [{"name": name, "arguments": arguments} for name, arguments in calls]
        self.queue({"type": "reply", "tool_calls": asked})

    def queue(self, *behaviors: Json) -> None:
        self._send("POST", "/_llmock/scenario", {"behaviors": list(behaviors)})

    def requests(self) -> list[Json]:
        found = self._send("GET", "/_llmock/requests")
        return list(found["requests"] if isinstance(found, dict) else found)

    def verdict(self) -> Json:
        return self._send("GET", "/_llmock/verdict")

    def reset(self) -> None:
        self._send("POST", "/_llmock/reset")

    def _send(self, method: str, path: str, body: Json = None) -> Json:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, data, {"content-type": "application/json"}, method=method)
        with urlopen(request, timeout=60) as response:
            content = response.read()
        return json.loads(content) if content else None


@contextmanager
def model_server_process() -> Iterator[ModelServer]:
    port = free_port()
    start = "from llmock.cli import app; app()"
    command = [sys.executable, "-c", start, "serve", "--port", str(port), "--tool-mode", "off"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = ModelServer(port)
    try:
        wait_until(server.requests, process)
        yield server
    finally:
        process.terminate()
        process.wait(240)


@dataclass
class Answer:
    """One scripted HTTP answer; a body of str or bytes is sent as it is. `hang` seconds pass before it, `cut`
    breaks the connection in the middle of the body. One that is `endless` says that more comes, which does
    not.
    """

    body: Json
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hang: float = 0.0
    cut: bool = False
    endless: bool = False


@dataclass
class Seen:
    """One request as it came over the wire."""

    path: str
    headers: dict[str, str]
    body: Json
    content: bytes = b""
    """What the body was read from."""


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that have gone: what it would print is printed beside what a run says."""

    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Script:
    """A server that gives its answers in order (the last one for ever) and keeps every request."""

    def __init__(self, tls: SSLContext | None = None, port: int = 0) -> None:
        self.seen: list[Seen] = []
        self.answers: list[Answer | Callable[[Seen], Json]] = []
        self.open_connections = 0
        self.all_connections = 0
        self._lock = threading.Lock()
        self._server = QuietServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"

    def answer(self, *answers: Json) -> None:
        """Queue answers: an Answer, a function of the request, or a JSON body."""
        for each in answers:
            self.answers.append(each if isinstance(each, Answer) or callable(each) else Answer(each))

    def next(self, seen: Seen) -> Answer:
        with self._lock:
            self.seen.append(seen)
            chosen = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        made = chosen if isinstance(chosen, Answer) else chosen(seen)
        return made if isinstance(made, Answer) else Answer(made)

    def all_closed(self) -> bool:
        """Whether the clients have closed all of their connections, or do so while one may wait."""
        deadline = time.monotonic() + 120
        while self.open_connections and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.open_connections == 0

    def __enter__(self) -> Script:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def chat_reply(text: str | None = None, *calls: tuple[str, str, str], **more: Json) -> Json:
    """An answer on the OpenAI wire; calls are (id, name, arguments as text)."""
    message: dict[str, Json] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for call_id, name, arguments in calls
        ]
    reason = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return {
        "model": "gpt-4o",
        "choices": [{"message": message, "finish_reason": reason}],
        "usage": usage,
        **more,
    }


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            script.open_connections += 1
            script.all_connections += 1
            super().setup()

        def finish(self) -> None:
            script.open_connections -= 1
            super().finish()

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(content) if content else None
            self._answer(script.next(Seen(self.path, headers, body, content)))

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._answer(script.next(Seen(self.path, headers, None)))

        def _answer(self, answer: Answer) -> None:
            time.sleep(answer.hang)
            content = answer.body if isinstance(answer.body, bytes) else _written(answer.body).encode()
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content) + answer.endless))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if answer.cut else content)
                self.wfile.flush()
                if answer.endless:
                    self.rfile.read(1)
            except OSError:
                self.close_connection = True
            if answer.cut or answer.endless:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _written(body: Json) -> str:
    return body if isinstance(body, str) else json.dumps(body)


def free_port() -> int:
    """A port for a server that is started next: below those that systems give to clients, of which one might
    come first."""
    while True:
        port = 12_000 + secrets.randbelow(20_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_until(answers: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Wait until a server that was started answers."""
    deadline = time.monotonic() + 120
    while True:
        try:
            answers()
            return
        except OSError:
            assert process.poll() is None, "the model server ended"
            assert time.monotonic() < deadline, "the model server did not start"
            time.sleep(0.05)

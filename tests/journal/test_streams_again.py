"""Streams that are shown again: what was read of an answer before its end is read so again."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from concerto.cli.effect_tree import shown
from concerto.journal.recording import read_recording
from concerto.viewer.run_data import run_data
from tests.runtime.running import AGENTS, chat_at, make_runtime

WORDS = [f"{number} " for number in range(20)]  # More than wait in the queue of a stream.

READ = {
    "to its end": 'for chunk in Reader.stream("x")? { print(chunk.text); }',
    "until it is left": """
        for chunk in Reader.stream("x")? {
            print(chunk.text);
            if chunk.text == "3 " { break; }
        }""",
    "until it breaks off": """
        for chunk in Reader.stream("x")?.results() {
            print("${chunk.map(|each| each.text).unwrap_or("broken")}");
        }""",
}


class _Output(io.StringIO):
    """Lets the server go on whenever the program has printed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


@contextmanager
def _server(output: _Output, *, breaks: bool) -> Iterator[str]:
    """One that sends a word when the word before was read."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for word in WORDS:
                output.written.clear()
                self._send(json.dumps({"choices": [{"delta": {"content": word}}]}))
                output.written.wait(60)
            if not breaks:
                self._send(json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]}))
                self._send("[DONE]")

        def _send(self, data: str) -> None:
            try:
                self.wfile.write(f"data: {data}\n\n".encode())
                self.wfile.flush()
            except OSError:
                output.written.set()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        output.written.set()
        server.shutdown()
        server.server_close()
        thread.join(60)


@pytest.mark.parametrize("how", READ)
def test_a_stream_that_was_read_as_it_came(how: str, tmp_path: Path) -> None:
    source = AGENTS + "fn main() -> Result<Nil, AgentError> {" + READ[how] + ' println("done"); Ok(nil) }'
    live, again, place = _Output(), io.StringIO(), tmp_path / "x.conc-run"
    with _server(live, breaks=how == "until it breaks off") as url:
        result = make_runtime(source, chat_at(url), output=live, record=place).run()
    assert result.ok and live.getvalue().endswith("done\n"), result.error
    replayed = make_runtime(source, chat_at(url), output=again, errors=again, replay=place).run()
    assert (replayed.ok, again.getvalue()) == (True, live.getvalue())
    assert run_data(read_recording(place), "")
    told = shown(read_recording(place), content=True)
    assert ("StreamBroken" if "breaks" in how else "gave: 0 1 2 3") in told

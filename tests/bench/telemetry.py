"""Benchmark of telemetry, run by hand: `python -m tests.bench.telemetry`.

`span`: processor time that a span takes, its delivery included, beside the same run without. `collectors`:
how long a run of two seconds takes, as a process, with collectors of all kinds.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

from concerto import Runtime, compile_source
from tests.harness.commands import command, environment

EFFECTS = 5_000
TIMES = 3
ASKING = f"""
tool Desk {{ description: "People", @describe("Look") @param("n", "which")
    pub fn look(n: Int) -> Result<Int, ToolError>; }}
fn main() -> Result<Int, ToolError> {{
    let mut sum = 0;
    for n in 1..={EFFECTS} {{ sum += Desk::look(n)?; }}
    Ok(sum)
}}
"""
WAITING = "use std::time; fn main() { for _ in 1..=100 { time::sleep(20); } }"
KINDS = ("well", "refuses", "hangs")
SERVER = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
kind = sys.argv[1]
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if kind == "hangs":
            time.sleep(60)
        self.send_response(500 if kind == "refuses" else 200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *given):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def main() -> None:
    span()
    collectors()


def span() -> None:
    with collector("well") as url:
        cost(url)  # Once, for what is loaded.
        on, off = (min(cost(where) for _ in range(TIMES)) for where in (url, None))
    print(f"an effect: {off / EFFECTS * 1e6:.0f} µs, with a span: {on / EFFECTS * 1e6:.0f} µs of processor")
    print(f"so a span: {(on - off) / EFFECTS * 1e3:.3f} ms")


def cost(url: str | None) -> float:
    runtime = Runtime(compile_source(ASKING), handlers={"tool:Desk::look": lambda call: call["n"]}, otlp=url)
    begun = process_time()
    assert runtime.run().ok
    if url is not None:
        from concerto.runtime.telemetry.exporting import exporting_to

        exporting = exporting_to(url, {}, "<source>")
        assert exporting is not None
        assert exporting.deliver() == ""
    return process_time() - begun


def collectors() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "waiting.conc").write_text(WAITING)
        print(f"off: {seconds(folder):.2f} s")
        for kind in KINDS:
            with collector(kind) as url:
                print(f"a collector that {kind}: {seconds(folder, '--otlp', url):.2f} s")
        print(f"no collector: {seconds(folder, '--otlp', f'http://127.0.0.1:{free_port()}'):.2f} s")


def seconds(folder: str, *options: str) -> float:
    """The best of some processes."""
    told = environment() | {"CONCERTO_STATE": folder}
    found = []
    for _ in range(TIMES):
        begun = perf_counter()
        begin = command("concerto", "run", *options, "waiting.conc")
        subprocess.run(begin, cwd=folder, env=told, capture_output=True, check=True)
        found.append(perf_counter() - begun)
    return min(found)


@contextmanager
def collector(kind: str) -> Iterator[str]:
    """One in a process of its own."""
    started = [sys.executable, "-c", SERVER, kind]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True, env=os.environ) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()

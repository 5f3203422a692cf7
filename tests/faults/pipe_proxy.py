"""Stands before an MCP server over stdio and spoils what is said at one byte:
`pipe_proxy.py RECORDING KIND AT WAY MARK [COMMAND …]`.

With a command it passes on to that server what the client asks, writes both down in RECORDING and spoils
nothing if KIND is `none`. Without one the recording answers, as long as the client asks what it asked then.
MARK is only there to be found on the command line. Standard library only, so that it starts in no time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from spoiling import PAUSE, Act, Fault, Spoiler, Step  # type: ignore[import-not-found]

Json = Any


def main() -> None:
    recording, kind, at, way, _, *command = sys.argv[1:]
    spoiler = Spoiler(None if kind == "none" else Fault(kind, int(at), way == "asked"))
    answers = _record(Path(recording), command) if command else _replay(Path(recording), spoiler)
    next(answers)
    for line in sys.stdin.buffer:
        asked = b"".join(map(_done, spoiler.steps(line, in_request=True)))
        for step in spoiler.steps(answers.send(asked), in_request=False):
            sys.stdout.buffer.write(_done(step))
            sys.stdout.buffer.flush()


def _done(step: Step) -> bytes:
    match step:
        case bytes():
            return step
        case Act.PAUSE:
            time.sleep(PAUSE)
            return b""
        case Act.SILENCE:
            sys.stdin.buffer.read()
        case Act.RESET:
            sys.stdout.buffer.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    sys.exit()


def _record(recording: Path, command: list[str]) -> Generator[bytes, bytes, None]:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    spoken: list[tuple[str, str]] = []
    answer = b""
    try:
        while True:
            asked = yield answer
            server.stdin.write(asked)
            server.stdin.flush()
            answer = server.stdout.readline() if "id" in json.loads(asked) else b""
            spoken.append((asked.decode(), answer.decode()))
            recording.write_text(json.dumps(spoken), encoding="utf-8")
    finally:
        server.stdin.close()
        server.wait(10)
        server.stdout.close()


def _replay(recording: Path, spoiler: Spoiler) -> Generator[bytes, bytes, None]:
    """A session that begins anew after a fault has other numbers and fewer requests."""
    spoken = json.loads(recording.read_text(encoding="utf-8"))
    answers = {_the_same_in_every_run(asked): (json.loads(asked).get("id"), said) for asked, said in spoken}
    answer = b""
    while True:
        asked = (yield answer).decode()
        number, said = answers.get(_the_same_in_every_run(asked), (None, ""))
        if _the_same_in_every_run(asked) not in answers and not spoiler.struck:
            sys.exit("it asks what it did not ask the server")
        answer = said.replace(f'"id":{number}', f'"id":{json.loads(asked).get("id")}', 1).encode()


def _the_same_in_every_run(asked: str) -> str:
    """A request without its number and the idempotency key of its call."""
    request = {name: value for name, value in json.loads(asked).items() if name != "id"}
    for name in request.get("params", {}).get("_meta", {}):
        if name == "idempotency_key":
            request["params"]["_meta"][name] = ""
    return json.dumps(request)


if __name__ == "__main__":
    main()

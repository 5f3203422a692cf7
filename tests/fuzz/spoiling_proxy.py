"""An MCP server whose messages are spoilt on the way: `spoiling_proxy.py SEED SHARE [COMMAND …]`.

With a command it stands before that server; without one it says what mcp-server-time once said. Of the
messages, SHARE (0 to 1) are spoilt. The same seed spoils the same. Standard library only, so that it starts
in no time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutating import spoilt_bytes, spoilt_json  # type: ignore[import-not-found]

Json = Any


def main() -> None:
    random, share, command = Random(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    for line in _lines_of(command) if command else _recorded():
        data = line.encode() if isinstance(line, str) else line
        sys.stdout.buffer.write(_spoilt(data, random) if random.random() < share else data)
        sys.stdout.buffer.flush()


def _lines_of(command: list[str]) -> Iterator[bytes]:
    """What a real server says to what comes in here."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None

    def forward() -> None:
        assert server.stdin is not None
        for line in sys.stdin.buffer:
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()

    threading.Thread(target=forward, daemon=True).start()
    yield from server.stdout
    server.wait()


def _recorded() -> Iterator[str]:
    text = Path(__file__).with_name("recorded_mcp.json").read_text(encoding="utf-8")
    recorded = json.loads(text)["time"]
    calls = 0
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        found = recorded.get(message["method"])
        if isinstance(found, list):
            found = found[calls % len(found)]
            calls += 1
        answer = {"result": found} if found else {"error": {"code": -32601, "message": "Method not found"}}
        yield json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n"


def _spoilt(line: bytes, random: Random) -> bytes:
    match random.randrange(8):
        case 0:
            return bytes(spoilt_bytes(line, random)) + b"\n"
        case 1:
            return line + line
        case 2:
            return b"" if random.random() < 0.3 else b"\n\n" + line
        case 3:
            message = json.loads(line)
            message["id"] = random.choice(
                (message.get("id"), str(message.get("id")), None, 1.5, -1, 2**70, [])
            )
            return json.dumps(message).encode() + b"\n"
        case _:
            message = json.loads(line)
            part = random.choice(sorted(message))
            message[part] = spoilt_json(message[part], random)
            return json.dumps(message).encode() + b"\n"


if __name__ == "__main__":
    main()

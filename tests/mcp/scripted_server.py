"""An MCP server that behaves as badly as it is told: `scripted_server.py MODE [MARK]`. Standard library
only, so that it starts in no time.

Modes: `well`, `exit` (at once), `silent` (hangs at its start), `banner` (prints text before its messages),
`pages` (lists its tools one by one), `refuses` (takes only messages of the protocol's later versions, of
which it knows none), `nonsense` (lists tools that are none), `noisy` and `noisy-exit` (10 MB of errors, then
work or the end), `twins` (tools whose names read like that of a tool elsewhere). MARK is there to find the
process by.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

Json = Any
NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 10}},
    "required": ["a"],
}
FILE = {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}
SUM = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}


def tool(name: str, parameters: Json = None, **more: Json) -> Json:
    return {
        "name": name,
        "description": f"Does {name}",
        "inputSchema": parameters or {"type": "object"},
        **more,
    }


TOOLS = [
    tool("add", NUMBERS, outputSchema=SUM),
    tool("sleep", annotations={"idempotentHint": True}),
    tool("deaf"),
    tool("die"),
    tool("die-once", FILE, annotations={"readOnlyHint": True}),
    tool("wrong_id"),
    tool("big"),
    tool("liar", outputSchema=SUM),
    tool("fail"),
    tool(
        "arguments",
        {"type": "object", "properties": {"filter": {"type": "object"}, "note": {"type": "string"}}},
    ),
    tool("change"),
    tool("pid"),
    tool("environment"),
    tool("cancelled"),
    tool("garbled"),
    tool("torn"),
    tool("picture"),
    tool("nothing"),
    tool(
        "refuse",
        {"type": "object", "properties": {"code": {"type": "integer"}, "why": {"type": "string"}}},
    ),
    tool("halves"),
    tool("bare"),
    tool("fail_silently"),
]
TWINS = [tool("Own__add"), tool("Own--add"), tool("Own  add")]
CHANGED = [tool("plus", NUMBERS)]


class Server:
    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.tools = TWINS if mode == "twins" else TOOLS
        self.cancelled: list[Json] = []

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            match message.get("method"):
                case "notifications/cancelled":
                    self.cancelled.append(message["params"]["requestId"])
                case _ if "id" in message:
                    self.answer(message)

    def answer(self, message: Json) -> None:
        given = message.get("params") or {}
        match message["method"]:
            case _ if self.mode == "refuses":
                error = {
                    "code": -32022,
                    "message": "too old",
                    "data": {"supported": ["2099-01-01"], "requested": ""},
                }
                send({"id": message["id"], "error": error})
            case "initialize":
                capabilities = {"tools": {"listChanged": True}}
                info = {"name": "scripted", "version": "1"}
                result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
                send({"id": message["id"], "result": result})
            case "tools/list":
                send({"id": message["id"], "result": self.page(given.get("cursor"))})
            case "tools/call":
                self.call(message["id"], given["name"], given.get("arguments") or {})
            case _:
                send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})

    def page(self, cursor: str | None) -> Json:
        if self.mode == "nonsense":
            return {"tools": [{"name": "add", "inputSchema": "whatever"}]}
        if self.mode != "pages":
            return {"tools": self.tools}
        at = int(cursor or 0)
        more = {"nextCursor": str(at + 1)} if at + 1 < len(self.tools) else {}
        return {"tools": self.tools[at : at + 1], **more}

    def call(self, number: Json, name: str, given: Json) -> None:
        match name:
            case "add" | "plus":
                total = given["a"] + given["b"]
                text(number, str(total), structuredContent={"result": total})
            case "sleep":
                pass  # The answer never comes.
            case "deaf":
                time.sleep(600)  # Nothing is read meanwhile.
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "die-once":
                file = Path(given["file"])
                if not file.exists():
                    file.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                text(number, "answered by the second")
            case "wrong_id":
                text(9999, "who asked?")
            case "big":
                text(number, "x" * (10 * 1024 * 1024))
            case "liar":
                text(number, "no number", structuredContent={"result": "no number"})
            case "fail":
                text(number, "this is not possible", isError=True)
            case "arguments":
                text(number, json.dumps(given))
            case "change":
                self.tools = CHANGED
                send({"method": "notifications/tools/list_changed"})
                text(number, "changed")
            case "pid":
                text(number, str(os.getpid()))
            case "environment":
                text(number, json.dumps(dict(os.environ)))
            case "garbled" | "torn":
                begun = f'{{"jsonrpc": "2.0", "id": {number}, "result": {{"content": [}}'
                print(begun if name == "garbled" else '{"result": {"content": [], "jsonrpc"', flush=True)
            case "picture" | "nothing":
                image = {"type": "image", "mimeType": "image/png", "data": "YWJj"}
                content = [{"type": "text", "text": "a cat"}, image] if name == "picture" else []
                send({"id": number, "result": {"content": content}})
            case "refuse" | "halves" | "bare" | "fail_silently":
                half = {"content": [{"type": "text", "text": "half \ud83d here"}]}
                answers: dict[str, Json] = {
                    "refuse": {"error": {"code": given.get("code"), "message": given.get("why")}},
                    "halves": {"result": half},
                    "bare": {},
                    "fail_silently": {"result": {"content": [], "isError": True}},
                }
                send({"id": number, **answers[name]})
            case "Own__add" | "Own--add" | "Own  add":
                text(number, f"{name} of the server")
            case "cancelled":
                text(number, json.dumps(self.cancelled))


def text(number: Json, said: str, **more: Json) -> None:
    send({"id": number, "result": {"content": [{"type": "text", "text": said}], **more}})


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    mode = sys.argv[1]
    if mode == "exit":
        sys.stderr.write("no configuration found\n")
        sys.exit(3)
    if mode.startswith("noisy"):
        sys.stderr.write("so much to say\n" * 700_000 if mode == "noisy" else "x" * 10_000_000)
        sys.stderr.flush()
    if mode == "noisy-exit":
        sys.exit(4)
    if mode == "silent":
        time.sleep(600)
    if mode == "banner":
        print("Listening on nothing at all", flush=True)
    Server(mode).serve()

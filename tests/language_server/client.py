"""A client of the protocol, for tests that ask many questions; people use one like that of `neovim`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.harness.commands import command, environment

Json = Any


class Client:
    """A conversation with `concerto lsp`. An error in the server's log is a failure."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._ids = 0
        self.published: dict[str, Json] = {}
        self.capabilities: Json = {}

    def start(self, root: Path) -> None:
        capabilities = {
            "workspace": {"workspaceEdit": {"documentChanges": True}},
            "general": {"positionEncodings": ["utf-8", "utf-32", "utf-16"]},
        }
        params = {"processId": None, "rootUri": root.as_uri(), "capabilities": capabilities}
        self.capabilities = self.ask("initialize", params)["capabilities"]
        self.tell("initialized", {})

    def open(self, path: Path, text: str, version: int = 1) -> None:
        document = {"uri": path.as_uri(), "languageId": "concerto", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, path: Path, version: int, *changes: Json) -> None:
        document = {"uri": path.as_uri(), "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def rewrite(self, path: Path, version: int, text: str) -> None:
        self.change(path, version, {"text": text})

    def at(self, method: str, path: Path, place: tuple[int, int], **more: Json) -> Json:
        """Ask about a line and column, from 0."""
        position = {"line": place[0], "character": place[1]}
        return self.of(method, path, position=position, **more)

    def of(self, method: str, path: Path, **more: Json) -> Json:
        """Ask about a document."""
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": path.as_uri()}, **more})

    def problems(self, path: Path, version: int | None = None) -> list[Json]:
        """The diagnostics of a document, of this version of it; waits for them."""
        uri = path.as_uri()
        while uri not in self.published or version not in (None, self.published[uri]["version"]):
            self._read()
        return list(self.published[uri]["diagnostics"])

    def settled(self) -> dict[str, list[Json]]:
        """All diagnostics by their files, when nothing is left to be published."""
        self.ask("concerto/settled", {})
        return {uri: found["diagnostics"] for uri, found in self.published.items() if found["diagnostics"]}

    def ask(self, method: str, params: Json) -> Json:
        self._ids += 1
        self._write({"id": self._ids, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._ids and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def tell(self, method: str, params: Json) -> None:
        self._write({"method": method, "params": params})

    def _write(self, message: Json) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._process.stdin.flush()

    def _read(self) -> Json:
        output = self._process.stdout
        assert output is not None
        length = 0
        while line := output.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the server has ended"
        message = json.loads(output.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]
        elif message.get("method") == "window/logMessage":
            assert message["params"]["type"] != 1, message["params"]["message"]
        elif "method" in message and "id" in message:
            self._write({"id": message["id"], "result": None})
        return message


@contextmanager
def language_server(root: Path) -> Iterator[Client]:
    """A server whose editor has opened a folder."""
    process = subprocess.Popen(
        command("concerto", "lsp"),
        cwd=root,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    client = Client(process)
    try:
        client.start(root)
        yield client
        client.ask("shutdown", None)
        client.tell("exit", None)
        _, errors = process.communicate(timeout=120)
        assert not errors, errors.decode()
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate(timeout=120)

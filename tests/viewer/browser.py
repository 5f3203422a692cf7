"""A headless Chromium without a network, driven over its own protocol on two pipes."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import subprocess
import time
from base64 import b64decode
from pathlib import Path
from typing import Any

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1300,800",
)  # fmt: skip
_PATIENCE = 120.0
"""Seconds; the machine may be busy."""


class Browser:
    """One page after the other; what a page says on its console is in `console`."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs, self._write = os.pipe()
        self._read, answers = os.pipe()
        command = shlex.join([program, *_FLAGS, f"--user-data-dir={profile}"])
        self._process = subprocess.Popen(
            ["bash", "-c", f"exec {command} 3<&{theirs} 4>&{answers}"],
            pass_fds=(theirs, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answers)
        self._number, self._left, self._session = 0, b"", ""
        self._loaded: set[str] = set()
        self.console: list[str] = []
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.setLifecycleEventsEnabled", enabled=True)
        self.send(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip

    def open(self, page: Path, *, dark: bool = False, at: str = "") -> None:
        """Raises AssertionError if the page complains."""
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[feature])
        self._go("about:blank")  # An address that differs in its fragment alone loads nothing.
        self._go(page.as_uri() + at)
        assert self.console == []

    def visit(self, address: str) -> None:
        """Open a page of a server, which it may ask for more."""
        self.send(
            "Network.emulateNetworkConditions",
            offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip
        self._go(address)

    def until(self, script: str) -> None:
        """Wait until an expression in the page is true, be it after the page was loaded anew."""
        # A page that asks its server again and again says something all the time, so silence is no sign.
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            look = (
                f"let seen; try {{ seen = ({script}); }} catch {{}}"
                f" seen || Date.now() > end ? done(Boolean(seen)) : setTimeout(look, 20);"
            )
            left = (end - time.monotonic()) * 1000
            waiting = f"const end = Date.now() + {left}; const look = () => {{ {look} }}; look();"
            try:
                if self.evaluate(f"new Promise((done) => {{ {waiting} }})"):
                    return
            except AssertionError as error:
                if not re.search("navigated|context|collected", str(error)):
                    raise
        shown = self.evaluate("document.documentElement.innerText")
        raise AssertionError(f"it never was so: {script}\n{self.console}\n{shown}")

    def picture(self, file: Path) -> None:
        file.write_bytes(b64decode(self.send("Page.captureScreenshot")["data"]))

    def _go(self, address: str) -> None:
        self.console = []
        # Not any page: the one before may be loaded later than this is asked for.
        page = self.send("Page.navigate", url=address)["loaderId"]
        end = time.monotonic() + _PATIENCE
        while page not in self._loaded:
            self._receive(end)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, awaited."""
        given = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in given, given["exceptionDetails"]
        return given["result"].get("value")

    def press(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def write(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of the first such element."""
        box = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView("
            "{block: 'nearest'}); const b = e.getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def send(self, method: str, **given: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": given}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 2 * _PATIENCE
        while True:
            answer = self._receive(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            data = os.read(self._read, 1 << 20) if ready and time.monotonic() < end else b""
            if not data:
                raise RuntimeError(f"the browser does not answer; it ended with {self._process.poll()}")
            self._left += data
        line, _, self._left = self._left.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        method = message.get("method", "")
        if method == "Page.lifecycleEvent" and message["params"]["name"] == "load":
            self._loaded.add(message["params"]["loaderId"])
        if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.console.append(json.dumps(message["params"]))
        return message

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)

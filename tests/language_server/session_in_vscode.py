"""A person's session in the engine of Visual Studio Code, recorded:
`python -m tests.language_server.session_in_vscode CODE_SERVER VSIX [FOLDER]`.

CODE_SERVER is the command of the npm package `code-server`, VSIX the packaged extension. Chromium shows them,
and somebody writes a small agent key by key, with a slip. What the editor says is printed; pictures go into
FOLDER.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.harness.commands import environment
from tests.language_server.session import MANIFEST
from tests.viewer.browser import Browser

_PATIENCE: Final = 100
"""Seconds until something must be on the screen."""
_SETTINGS: Final = {
    "concerto.path": str(Path(sys.executable).with_name("concerto")),
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "terminal.integrated.gpuAcceleration": "off",
    "workbench.startupEditor": "none",
}
_KEYS: Final = {
    "Enter": 13, "Escape": 27, "F1": 112, "F2": 113, "End": 35, "ArrowDown": 40, "Period": 190,
}  # fmt: skip
_MODIFIERS: Final = {"Alt": 1, "Ctrl": 2, "Shift": 8}
# The editor closes brackets; `↓` goes behind the next line.
_PROGRAM: Final = """\
tool Prices {
description: "What things cost",

@describe("The price of a thing")
@param("thing", "Its name")
pub fn price(thing: String) -> Result<Int, ToolError> {
Ok(thing.len())↓↓

agent Clerk {
provider: shop,
tools: []↓

fn main() -> Result<Nil, AgentError> {
let answer = Clerk.execute("What does tea cost?")?;
println(answr.text);
Ok(nil)"""


class EditorUser:
    """Hands on the keyboard, and eyes on the screen."""

    def __init__(self, browser: Browser, pictures: Path | None) -> None:
        self._browser = browser
        self._pictures = pictures
        self._taken = 0

    def press(self, keys: str) -> None:
        """Such as `Ctrl+Shift+K`."""
        *held, name = keys.split("+")
        code = _KEYS.get(name) or ord(name)
        event = {
            "key": name if len(name) > 1 else name.lower(),
            "code": name if name in _KEYS else f"Key{name}",
            "windowsVirtualKeyCode": code,
            "modifiers": sum(_MODIFIERS[each] for each in held),
        }
        text = {"text": "\r"} if name == "Enter" else {}
        self._browser.send("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        self._browser.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Letter by letter, each when the one before is on the screen."""
        for letter in text:
            if letter == "\n":
                self.press("Enter")
            elif letter == "↓":
                self.press("ArrowDown")
                self.press("End")
            else:
                self._browser.send("Input.dispatchKeyEvent", type="char", text=letter)
            self._browser.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def command(self, name: str) -> None:
        """From the palette of commands."""
        self.press("F1")
        self.see(".quick-input-widget:not([style*='display: none']) input")
        self.type(name)
        self.click_on(f".quick-input-list .monaco-list-row[aria-label^={json.dumps(name)}]")

    def click_on(self, selector: str) -> None:
        self.see(selector)
        self._browser.click(selector)

    def go_to(self, line: int, column: int = 1) -> None:
        self.press("Ctrl+G")
        self.see(".quick-input-widget:not([style*='display: none']) input")
        self.type(f"{line}:{column}")
        self.press("Enter")

    def see(self, selector: str, text: str = "") -> str:
        """Wait until something is on the screen, and read it."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            seen = next((each for each in self._read(selector) if text in each), None)
            if seen is not None:
                return seen
            time.sleep(0.1)
        self.picture("not-seen")
        raise SystemExit(f"error: `{text}` is not on the screen, but {self._read(selector)}")

    def _read(self, selector: str) -> list[str]:
        texts = f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText)"
        return [" ".join(each.split()) for each in self._browser.evaluate(texts)]

    def picture(self, name: str) -> None:
        if self._pictures is not None:
            self._taken += 1
            self._browser.picture(self._pictures / f"{self._taken}-{name}.png")


def write_an_agent(user: EditorUser) -> Iterator[str]:
    """What the editor says at each step."""
    line = ".view-line"
    user.click_on(".explorer-folders-view .monaco-list-row[aria-label*='main.conc']")
    user.see(".statusbar-item", "Concerto")
    user.click_on(".editor-container .view-lines")
    user.type(_PROGRAM)
    user.see(".squiggly-error")
    yield "types are shown: " + user.see(line, "answer:")
    yield "above `main`: " + user.see(".codelens-decoration", "Run")
    user.press("Ctrl+Shift+M")
    yield "a slip is reported: " + user.see(".markers-panel .monaco-tl-contents", "answr")
    user.picture("problem")
    user.go_to(18, 17)
    user.press("Ctrl+Period")
    yield "and mended: " + user.see(".action-widget .monaco-list-row", "answer")
    user.picture("fix")
    user.press("Enter")
    user.see(line, "println(answer.text)")
    user.go_to(13, 13)
    user.type("Pri")
    yield "inside of `tools`: " + user.see(".suggest-widget .monaco-list-row.focused", "Prices")
    user.picture("completion")
    user.press("Enter")
    user.see(line, "tools: [Prices]")
    user.go_to(6, 14)
    user.command("Show or Focus Hover")
    yield "hover: " + user.see(".monaco-hover-content", "The price of a thing")
    user.picture("hover")
    user.press("Escape")
    user.press("F2")
    user.see(".rename-box input:focus")
    user.type("cost")
    user.press("Enter")
    yield "renamed: " + user.see(line, "fn cost")
    user.command("Format Document")
    yield "formatted: " + user.see(line, "tools: [Prices],")
    yield "problems: " + user.see(".statusbar-item", "0 0")
    user.command("Concerto: Run this program")
    yield "it runs: " + user.see(".xterm-rows", "mock response")
    user.picture("run")


@contextmanager
def code_server(program: str, package: Path, folder: Path) -> Iterator[str]:
    """The address of a server that has the extension, and its state in a folder."""
    (folder / "User").mkdir()
    (folder / "User/settings.json").write_text(json.dumps(_SETTINGS))
    command = [program, f"--user-data-dir={folder}", f"--extensions-dir={folder / 'extensions'}"]
    told = environment() | {"HOME": str(folder)}
    subprocess.run([*command, f"--install-extension={package}"], env=told, check=True, timeout=600)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = ("--auth=none", f"--bind-addr={address}", "--disable-telemetry", "--disable-update-check")
    server = subprocess.Popen([*command, *options], env=told, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        while "HTTP server listening" not in (said := server.stdout.readline()):
            if not said:
                raise SystemExit("error: code-server does not start")
        yield f"http://{address}"
    finally:
        server.terminate()
        server.communicate(timeout=60)


def main(program: str, package: str, pictures: str | None = None) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("error: Chromium is not installed")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        for each in ("shop", "server"):
            (work / each).mkdir()
        (work / "shop/Concerto.toml").write_text(MANIFEST)
        (work / "shop/main.conc").write_text("")
        with code_server(program, Path(package), work / "server") as address:
            browser = Browser(chromium, work / "profile")
            try:
                browser.visit(f"{address}/?folder={work / 'shop'}")
                for step in write_an_agent(EditorUser(browser, Path(pictures) if pictures else None)):
                    print(f"- {step}", flush=True)
            finally:
                browser.close()
        print("\n" + (work / "shop/main.conc").read_text())


if __name__ == "__main__":
    main(*sys.argv[1:])

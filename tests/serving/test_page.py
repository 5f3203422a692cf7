"""The page at `/`, used in a browser: a conversation with a tool call and an approval."""

from __future__ import annotations

from pathlib import Path

from tests.serving.servers import Served
from tests.viewer.browser import Browser
from tests.viewer.conftest import browser as browser

IDLE = "!document.getElementById('send').disabled"


def say(browser: Browser, text: str) -> None:
    browser.until(IDLE)
    browser.click("#prompt")
    browser.write(text)
    browser.click("#send")


def text(browser: Browser, selector: str) -> list[str]:
    found = browser.evaluate(f"[...document.querySelectorAll('{selector}')].map((each) => each.innerText)")
    return list(found)


def test_a_conversation(server: Served, browser: Browser, tmp_path: Path) -> None:
    browser.visit(server.url)
    browser.until("document.getElementById('agent').options.length === 3")
    say(browser, "say <b>hello</b> to you")
    browser.until(IDLE)
    assert text(browser, ".user") == ["say <b>hello</b> to you"]
    assert text(browser, ".assistant") == ["<b>hello</b> to you"]
    assert browser.evaluate("document.querySelector('.assistant b')") is None
    say(browser, 'call Sums__add {"a": 1, "b": 2}')
    browser.until(IDLE)
    (tool,) = text(browser, ".tool")
    assert tool.startswith("Sums__add\n{")
    assert tool.endswith("→ 3")
    say(browser, 'call Desk__ask {"what": "pay?"}')
    browser.until("document.querySelector('.ask .choices')")
    browser.picture(tmp_path / "asked.png")
    browser.click(".ask button.first")
    browser.until(IDLE)
    assert text(browser, ".ask")[0].endswith("→ true")
    assert text(browser, ".assistant")[-1] == "given 3, true"
    say(browser, "fail")
    browser.until(IDLE)
    assert "it broke" in text(browser, ".error")[0]
    say(browser, "say still here")
    browser.until(IDLE)
    assert text(browser, ".assistant")[-1] == "still here"
    assert browser.console == []
    browser.picture(tmp_path / "whole.png")
    assert not list(tmp_path.glob("*.html"))
